"""What of a hub model is missing, found before its libraries are imported, which takes seconds."""

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from ..errors import ModelNotFoundError
from .base import LoadOptions
from .hub import NO_NETWORK, PROBED, HubRepo, has_cached_repos, hub_answers, hub_is_off, is_repo_id

CONFIG = "config.json"
FILES = (".safetensors", ".bin", ".pt", ".pth", ".npz")


def check_at_hand(scheme: str, rest: str, options: LoadOptions) -> None:
    """Raise ModelNotFoundError where nothing of the model is on disk and the hub cannot be reached."""
    libraries, check = _CHECKS.get(scheme, ((), None))
    if check is not None and all(map(find_spec, libraries)):  # without them, that is what the user must know
        check(rest, options)


def fetch_of(repo: HubRepo, *names: str) -> Path:
    """The first of the files that a repository of transformers has."""
    where = f"hf download {repo.name}"
    return repo.fetch(
        *names,
        advice="Expected a folder written by save_pretrained, or a hub id; fetch the latter where there is a network "
        f"with: {where}",
    )


def _check_transformers(place: str, options: LoadOptions) -> None:
    if is_repo_id(place) and not Path(place).expanduser().is_dir():
        fetch_of(HubRepo(place, cache_dir=options.cache_dir, offline=options.offline), CONFIG)


def _check_open_clip(rest: str, options: LoadOptions) -> None:
    """Of open_clip's tags only open_clip knows the repository; a machine without any is all that is seen here."""
    arch, _, tag = rest.partition("/")
    if not tag or ":" in arch or "/" in tag or tag.endswith(FILES) or Path(tag).exists():
        return
    if options.offline or hub_is_off() or has_cached_repos(options.cache_dir) or hub_answers(PROBED):
        return
    raise ModelNotFoundError(
        f"cannot get the weights of open_clip:{rest}: {NO_NETWORK} Fetch them where there is a network with: "
        f"viewvote models get open_clip:{rest}"
    )


_CHECKS: dict[str, tuple[tuple[str, ...], Callable[[str, LoadOptions], None]]] = {
    "hf": (("torch", "transformers"), _check_transformers),
    "open_clip": (("torch", "open_clip"), _check_open_clip),
}
