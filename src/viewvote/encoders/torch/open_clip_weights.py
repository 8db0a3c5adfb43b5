"""Which file holds the weights of an open_clip model, fetched from the hub or found in its cache."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import open_clip
from huggingface_hub import constants, hf_hub_download
from huggingface_hub.errors import EntryNotFoundError, HfHubHTTPError, LocalEntryNotFoundError, OfflineModeIsEnabled

from ...errors import ModelNotFoundError, UsageError
from ...registry import unknown_name
from ..base import LoadOptions

CONFIG = "open_clip_config.json"
SAFE_WEIGHTS, WEIGHTS = "open_clip_model.safetensors", "open_clip_pytorch_model.bin"


@dataclass(frozen=True)
class Source:
    """Arguments of open_clip's `create_model` that name one set of weights and nothing random."""

    name: str  # an architecture, or "local-dir:PATH"
    weights: str | None  # a file; None where the folder holds it
    quick_gelu: bool = False
    preprocess: tuple[tuple[str, Any], ...] = ()
    tokenizer: str = ""  # where the tokenizer is looked up; empty is `name`


def find_source(rest: str, options: LoadOptions) -> Source:
    """The source that `rest` means: ARCH/TAG, ARCH/FILE, local-dir:PATH or hf-hub:ORG/REPO."""
    scheme, _, place = rest.partition(":")
    if scheme == "local-dir":
        return Source(f"local-dir:{_checked_folder(Path(place))}", None)
    if scheme == "hf-hub":
        for name in ((CONFIG,), (SAFE_WEIGHTS, WEIGHTS)):
            folder = fetch(place, name, options).parent
        return Source(f"local-dir:{_checked_folder(folder)}", None, tokenizer=rest)
    arch, _, weights = rest.partition("/")
    if arch not in open_clip.list_models():
        raise unknown_name("open_clip architecture", arch, open_clip.list_models())
    tags = open_clip.list_pretrained_tags_by_model(arch)
    if not weights:
        raise UsageError(
            f"open_clip:{arch} names no weights, and a model without them only guesses. Expected open_clip:{arch}/TAG "
            f"with one of: {', '.join(tags) or 'none are published'}; or open_clip:{arch}/FILE."
        )
    card = open_clip.get_pretrained_cfg(arch, weights)
    if card:
        return _tagged(arch, card, options)
    if Path(weights).is_file():
        return Source(arch, weights)
    if os.sep in weights or Path(weights).suffix in {".safetensors", ".bin", ".pt", ".pth", ".npz"}:
        raise ModelNotFoundError(f"no weights file {weights!r} for open_clip:{arch}. Check the path.")
    raise unknown_name(f"weights tag of open_clip:{arch}", weights, tags)


def fetch(repo: str, names: tuple[str, ...], options: LoadOptions) -> Path:
    """The first of the files `names` that the hub repository `repo` has, downloaded or from the cache."""
    offline = options.offline or constants.HF_HUB_OFFLINE
    cause: Exception | None = None
    for name in names:
        try:
            return Path(hf_hub_download(repo, name, cache_dir=options.cache_dir, local_files_only=offline))
        except LocalEntryNotFoundError as error:  # not in the cache, and no network or none allowed
            cause = cause or error
        except EntryNotFoundError as error:  # the repository has no such file
            cause = error
        except (HfHubHTTPError, OfflineModeIsEnabled, OSError, ValueError) as error:
            raise _not_found(repo, names, offline=offline) from error
    raise _not_found(repo, names, offline=offline) from cause


def _not_found(repo: str, names: tuple[str, ...], *, offline: bool) -> ModelNotFoundError:
    why = "it is not in the cache and the hub may not be asked (offline)" if offline else "the hub did not give it"
    return ModelNotFoundError(
        f"cannot get {' or '.join(names)} of {repo!r}: {why}. "
        f"Fetch it where there is a network with: hf download {repo} {names[0]}"
    )


def _tagged(arch: str, card: dict[str, Any], options: LoadOptions) -> Source:
    repo, name = os.path.split(card["hf_hub"])
    safe = str(Path(name).with_suffix(".safetensors")) if name else SAFE_WEIGHTS
    path = fetch(repo, (safe, name or WEIGHTS), options)
    keep = ("mean", "std", "interpolation", "resize_mode")
    # open_clip only warns where a tag was trained with QuickGELU and the architecture says GELU (ViT-B-16/openai).
    return Source(arch, str(path), bool(card.get("quick_gelu")), tuple((k, card[k]) for k in keep if card.get(k)))


def _checked_folder(folder: Path) -> Path:
    if not (folder / CONFIG).is_file():
        raise ModelNotFoundError(f"no {CONFIG} in {str(folder)!r}; expected a folder in open_clip's local-dir format.")
    if not any(p.suffix in {".safetensors", ".bin", ".pth"} for p in folder.iterdir()):
        raise ModelNotFoundError(f"no weights in {str(folder)!r}; expected {SAFE_WEIGHTS} beside {CONFIG}.")
    return folder
