"""What can be used here and now, what needs an extra, and what is already downloaded."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ..errors import CheckpointError
from ..reading import read_json
from . import SCHEMES
from .clip_b16.tower import tower_file
from .onnx.config import FILE

State = Literal["ready", "needs extra", "needs download", "downloaded"]
_GRAPHS = {FILE, "onnx/vision_model.onnx", "onnx/vision_model_quantized.onnx"}
_OPEN_CLIP_FILES = {"open_clip_config.json", "open_clip_pytorch_model.bin", "open_clip_model.safetensors"}
_DUAL_FAMILIES = ("clip", "siglip", "align")


@dataclass(frozen=True)
class CatalogRow:
    """One line of `viewvote models`: an id to use as it is or a pattern to fill in, and what stands in the way."""

    model: str
    state: State
    summary: str
    extra: str | None = None
    bytes_on_disk: int = 0


def list_models(*, cache_dir: Path | None = None) -> list[CatalogRow]:
    """The families in order of name, then the models found in the hub's cache."""
    return [*families(), *downloaded(cache_dir=cache_dir)]


def families() -> list[CatalogRow]:
    """One row per scheme of model ids."""
    rows = []
    for scheme in SCHEMES:
        entry = SCHEMES.entry(scheme)
        state: State = "ready" if entry.is_installed else "needs extra"
        if scheme == "clip-b16" and not tower_file().is_file():
            state = "needs download"
        rows.append(CatalogRow(scheme, state, entry.summary, extra=entry.extra))
    return rows


def downloaded(*, cache_dir: Path | None = None) -> list[CatalogRow]:
    """The CLIP-like repositories of the hub's cache as model ids, largest first; empty where there is no cache."""
    from huggingface_hub import CacheNotFound, scan_cache_dir

    try:
        cache = scan_cache_dir(cache_dir)
    except (CacheNotFound, ValueError):  # ValueError: the folder is a file
        return []
    rows = [row for repo in cache.repos if repo.repo_type == "model" and (row := _row(repo)) is not None]
    return sorted(rows, key=lambda row: (-row.bytes_on_disk, row.model))


def _row(repo: Any) -> CatalogRow | None:
    """The row of a cached repository, or None where it is not recognised as a dual encoder."""
    files = {name: path for revision in repo.revisions for name, path in _files(revision)}
    names, size = set(files), int(repo.size_on_disk)
    if names & _GRAPHS:
        return CatalogRow(f"onnx:{repo.repo_id}", "downloaded", "ONNX towers", bytes_on_disk=size)
    if names & _OPEN_CLIP_FILES:
        summary = "open_clip weights"
        return CatalogRow(f"open_clip:hf-hub:{repo.repo_id}", "downloaded", summary, extra="torch", bytes_on_disk=size)
    family = _family(files.get("config.json"))
    if family and any(name.endswith((".safetensors", "pytorch_model.bin")) for name in names):
        return CatalogRow(f"hf:{repo.repo_id}", "downloaded", f"{family} weights", extra="torch", bytes_on_disk=size)
    return None


def _files(revision: Any) -> Iterable[tuple[str, Path]]:
    for file in revision.files:
        yield file.file_path.relative_to(revision.snapshot_path).as_posix(), file.file_path


def _family(config: Path | None) -> str | None:
    """The model type of a `config.json` if it is a dual encoder's; None for anything else, broken files included."""
    try:
        data = read_json(config, error=CheckpointError) if config else {}
    except CheckpointError:
        return None
    family = str(data.get("model_type", ""))
    return family if any(word in family for word in _DUAL_FAMILIES) and "vision_config" in data else None
