"""Files of a hub repository: downloaded once with a progress bar, found offline, or an error with what to fetch.

A dropped connection is resumed where it stopped, and a finished file is never fetched again. Whether a download
that was killed with its process continues or starts over is up to the installed huggingface_hub (2.x starts over).
"""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from threading import Thread
from time import monotonic
from urllib.parse import urlsplit

from ..errors import ModelNotFoundError, UsageError

_REPO_ID = re.compile(r"[\w.-]+/[\w.-]+")


def is_repo_id(text: str) -> bool:
    """Whether `text` reads as "owner/name" of a hub repository, with or without "@revision"."""
    repo = text.partition("@")[0]
    return bool(_REPO_ID.fullmatch(repo)) and not repo.startswith((".", "-"))


class HubRepo:
    """One revision of a hub repository, given as "owner/name" or "owner/name@revision".

    The first file pins the commit, so all files come from the same one even if the branch moves in between. Bars are
    shown where stderr is a terminal, unless `progress` is off. The environment variable HF_HUB_OFFLINE has the effect
    of `offline`.
    """

    def __init__(
        self, repo: str, *, cache_dir: Path | None = None, offline: bool = False, progress: bool = True
    ) -> None:
        from huggingface_hub import constants

        if not is_repo_id(repo):
            raise UsageError(f"{repo!r} is not a hub repository; expected owner/name or owner/name@revision.")
        self.name, _, revision = repo.partition("@")
        self.revision: str | None = revision or None
        self.cache_dir, self.progress = cache_dir, progress
        self.offline = offline or constants.HF_HUB_OFFLINE
        self._endpoint = os.environ.get("HF_ENDPOINT") or None

    def fetch(self, *filenames: str, advice: str | None = None) -> Path:
        """The local path of the first of the files that the repository has, downloaded if need be.

        Raises ModelNotFoundError where it has none of them, with the reason and `advice`, or else a general one.
        """
        for filename in filenames:
            path, reason = self._get(filename)
            if path is not None:
                return path
        raise ModelNotFoundError(
            f"cannot get {' or '.join(filenames)} of {self.name}: {reason} {advice or self._advice(filenames[0])}"
        )

    def find(self, filename: str) -> Path | None:
        """The local path of a file the repository may not have; None where it has not, or where nothing is known."""
        return self._get(filename)[0]

    @cached_property
    def _is_reachable(self) -> bool:
        """Whether the hub answers at all. The download itself would retry for a minute before giving up."""
        return hub_answers(self.name)

    def _get(self, filename: str) -> tuple[Path | None, str]:
        """The path and "", or None and why."""
        from huggingface_hub import errors, hf_hub_download

        local_only = self.offline or not self._is_reachable
        try:
            with _progress_bars(shown=self.progress):
                path = hf_hub_download(
                    self.name,
                    filename,
                    revision=self.revision,
                    cache_dir=self.cache_dir,
                    local_files_only=local_only,
                    endpoint=self._endpoint,
                )
        except errors.LocalEntryNotFoundError:
            return None, _OFFLINE if self.offline else NO_NETWORK
        except errors.GatedRepoError:
            return None, "the repository is gated; accept its terms on its page and run `hf auth login`."
        except errors.RepositoryNotFoundError:
            return None, "there is no such repository, or it is private and you are not logged in."
        except errors.RevisionNotFoundError:
            return None, f"the repository has no revision {self.revision!r}."
        except errors.EntryNotFoundError:
            return None, "the repository has no such file."
        except _transport_errors() as error:
            return None, f"the download failed ({type(error).__name__}: {error})."
        self._pin(Path(path), filename)
        return Path(path), ""

    def _pin(self, path: Path, filename: str) -> None:
        """Keep to the commit that the cache folder `.../snapshots/<commit>/<filename>` names."""
        snapshot = path.parents[len(Path(filename).parts) - 1]
        if snapshot.parent.name == "snapshots":
            self.revision = snapshot.name

    def _advice(self, filename: str) -> str:
        revision = f" --revision {self.revision}" if self.revision else ""
        return (
            f"With a network, `hf download {self.name} {filename}{revision}` puts it into the cache; "
            f"or copy the model's files into a folder by other means and name the folder instead of the repository."
        )


def hub_is_off() -> bool:
    """Whether the environment forbids to ask the hub."""
    from huggingface_hub import constants

    return bool(constants.HF_HUB_OFFLINE)


def has_cached_repos(cache_dir: Path | None) -> bool:
    """Whether any model of the hub is in its cache, or in this folder."""
    from huggingface_hub import constants

    return any(Path(cache_dir or constants.HF_HUB_CACHE).glob("models--*"))


def hub_answers(repo: str) -> bool:
    """Whether the hub answers about a repository, if with a refusal, within PATIENCE or HF_HUB_ETAG_TIMEOUT seconds.

    An answer counts for REMEMBERED seconds: one model asks about several repositories.
    """
    from huggingface_hub import constants, hf_hub_url

    if constants.HF_HUB_OFFLINE:
        return False
    address = hf_hub_url(repo, "config.json", endpoint=os.environ.get("HF_ENDPOINT") or None)
    host = urlsplit(address).netloc
    asked, answer = _answers.get(host, (float("-inf"), False))
    if monotonic() - asked > REMEMBERED:
        answer = _asked(address, patience=float(os.environ.get("HF_HUB_ETAG_TIMEOUT") or PATIENCE))
        _answers[host] = monotonic(), answer
    return answer


def _asked(address: str, *, patience: float) -> bool:
    """Whether an answer comes in time. Looking up a name cannot be given up, so a thread is left to it."""
    from huggingface_hub import errors, get_hf_file_metadata

    answers: list[bool] = []

    def ask() -> None:
        try:
            get_hf_file_metadata(address, timeout=patience)
        except errors.HfHubHTTPError:
            answers.append(True)  # a refusal is an answer
        except _transport_errors():
            return
        answers.append(True)

    thread = Thread(target=ask, daemon=True)
    thread.start()
    thread.join(patience)
    return bool(answers)


@contextmanager
def staying_local(*, when: bool) -> Iterator[None]:
    """Keep libraries that ask the hub on their own from it for a while; they find what is in the cache."""
    from huggingface_hub import constants

    before = constants.HF_HUB_OFFLINE
    constants.HF_HUB_OFFLINE = before or when
    try:
        yield
    finally:
        constants.HF_HUB_OFFLINE = before


PATIENCE = 2.0
PROBED = "openai/clip-vit-base-patch32"  # any repository: the question is whether the hub answers
REMEMBERED = 60.0
_answers: dict[str, tuple[float, bool]] = {}  # when a host was asked, and whether it answered

_OFFLINE = "it is not in the cache and offline mode is on."
NO_NETWORK = "it is not in the cache and the hub cannot be reached (HF_HUB_ETAG_TIMEOUT=20 waits longer for it)."


def _transport_errors() -> tuple[type[Exception], ...]:
    """OSError and the base error of the HTTP client that the installed huggingface_hub uses (requests, httpx, ...)."""
    from huggingface_hub import errors

    return (OSError, *(base for base in errors.HfHubHTTPError.__bases__ if issubclass(base, Exception)))


@contextmanager
def _progress_bars(*, shown: bool) -> Iterator[None]:
    """Silence the hub's progress bars for a while unless they are wanted."""
    from huggingface_hub.utils.tqdm import are_progress_bars_disabled, disable_progress_bars, enable_progress_bars

    if shown or are_progress_bars_disabled():
        yield
        return
    disable_progress_bars()
    try:
        yield
    finally:
        enable_progress_bars()
