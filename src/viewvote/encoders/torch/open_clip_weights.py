"""Which file holds the weights of an open_clip model, fetched from the hub or found in its cache."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import open_clip

from ...errors import ModelNotFoundError, UsageError
from ...registry import unknown_name
from ..base import LoadOptions
from ..hub import HubRepo

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
    """The source that `rest` means: ARCH/TAG, ARCH/FILE, local-dir:PATH or hf-hub:ORG/REPO, maybe @REVISION."""
    scheme, _, place = rest.partition(":")
    if scheme == "local-dir":
        return Source(f"local-dir:{_checked_folder(Path(place))}", None)
    if scheme == "hf-hub":
        repo = _repo(place, options)
        folder = _fetch(repo, CONFIG).parent
        _fetch(repo, SAFE_WEIGHTS, WEIGHTS)
        return Source(f"local-dir:{_checked_folder(folder)}", None, tokenizer=f"hf-hub:{repo.name}")
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
    raise unknown_name("weights tag", weights, tags, of=f"open_clip:{arch}")


def _fetch(repo: HubRepo, *names: str) -> Path:
    """The first of the files `names` that the repository has."""
    command = f"hf download {repo.name} {names[0]}"
    return repo.fetch(*names, advice=f"Fetch it where there is a network with: {command}")


def _repo(name: str, options: LoadOptions) -> HubRepo:
    return HubRepo(name, cache_dir=options.cache_dir, offline=options.offline)


def _tagged(arch: str, card: dict[str, Any], options: LoadOptions) -> Source:
    repo, name = os.path.split(card["hf_hub"])
    safe = str(Path(name).with_suffix(".safetensors")) if name else SAFE_WEIGHTS
    path = _fetch(_repo(repo, options), safe, name or WEIGHTS)
    keep = ("mean", "std", "interpolation", "resize_mode")
    # open_clip only warns where a tag was trained with QuickGELU and the architecture has GELU (ViT-B-16/openai).
    return Source(arch, str(path), bool(card.get("quick_gelu")), tuple((k, card[k]) for k in keep if card.get(k)))


def _checked_folder(folder: Path) -> Path:
    if not (folder / CONFIG).is_file():
        raise ModelNotFoundError(f"no {CONFIG} in {str(folder)!r}; expected a folder in open_clip's local-dir format.")
    if not any(p.suffix in {".safetensors", ".bin", ".pth"} for p in folder.iterdir()):
        raise ModelNotFoundError(f"no weights in {str(folder)!r}; expected {SAFE_WEIGHTS} beside {CONFIG}.")
    return folder
