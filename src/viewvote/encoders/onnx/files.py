"""The files a pack is made of, found in a folder or fetched from the hub, in either of the two layouts."""

from dataclasses import dataclass
from pathlib import Path

from ...errors import ModelNotFoundError
from ..hub import HubRepo
from .config import FILE, PackConfig, read_config
from .hub_layout import OPTIONAL_FILES, SIDE_FILES, find_graph, graph_names, read_layout

_VISION = {"fp32": ("vision.onnx",), "int8": ("vision.int8.onnx",), "auto": ("vision.int8.onnx", "vision.onnx")}


@dataclass(frozen=True)
class PackFiles:
    """What an encoder is loaded from; of several outputs a graph may call its features by, the first it has counts."""

    config: PackConfig
    vision: Path
    text: Path
    tokenizer: Path
    vision_outputs: tuple[str, ...] = ("image_embeds",)
    text_outputs: tuple[str, ...] = ("text_embeds",)


def find_files(folder: Path, *, precision: str, name: str | None = None) -> PackFiles:
    """The files of a local folder: a pack if it has a vision.onnx, else the common hub layout."""
    if any((folder / file).is_file() for file in _VISION["auto"]):
        return _pack(folder, precision=precision)
    if (folder / "onnx").is_dir():
        return _layout(folder, precision=precision, name=name or folder.resolve().name)
    raise ModelNotFoundError(
        f"{folder} is not a model: expected a pack (vision.onnx, text.onnx, tokenizer.json, {FILE}) "
        f"or an ONNX CLIP repository (onnx/vision_model.onnx, onnx/text_model.onnx, {', '.join(SIDE_FILES)})."
    )


def fetch_files(repo: HubRepo, *, precision: str) -> PackFiles:
    """The files of a hub repository, only those needed for this precision."""
    config = repo.find(FILE)
    if config is not None and _first(repo, _VISION[precision]) is not None:
        for file in ("text.onnx", "tokenizer.json"):
            repo.fetch(file)
        repo.find("text.onnx_data")
        return find_files(config.parent, precision=precision)
    side = [repo.fetch(file) for file in SIDE_FILES]
    for file in OPTIONAL_FILES:
        repo.find(file)
    if _first(repo, graph_names("vision", precision)) is None:
        repo.fetch(graph_names("vision", precision)[0])  # raises, with the reason
    if _first(repo, graph_names("text", "auto")) is None:
        repo.fetch(graph_names("text", "auto")[0])
    return find_files(side[0].parent, precision=precision, name=repo.name)


def _pack(folder: Path, *, precision: str) -> PackFiles:
    config = read_config(folder / FILE)
    vision = next((folder / file for file in _VISION[precision] if (folder / file).is_file()), None)
    if vision is None:
        expected = " or ".join(_VISION[precision])
        raise ModelNotFoundError(f"{folder} has no vision tower for precision {precision!r}; expected {expected}.")
    return PackFiles(config, vision, _present(folder / "text.onnx"), _present(folder / "tokenizer.json"))


def _layout(folder: Path, *, precision: str, name: str) -> PackFiles:
    config = read_layout(folder, name=name)
    # A CLIP tower's pooler_output lacks the projection and must not be mistaken for features; SigLIP has none.
    extra = ("pooler_output",) if config.scoring == "sigmoid" else ()
    return PackFiles(
        config,
        find_graph(folder, "vision", precision),
        find_graph(folder, "text", "auto"),
        _present(folder / "tokenizer.json"),
        vision_outputs=("image_embeds", *extra),
        text_outputs=("text_embeds", *extra),
    )


def _present(path: Path) -> Path:
    if not path.is_file():
        raise ModelNotFoundError(f"{path} is missing; the model folder is not complete.")
    return path


def _first(repo: HubRepo, names: tuple[str, ...] | list[str]) -> Path | None:
    return next((path for name in names if (path := _fetch_graph(repo, name)) is not None), None)


def _fetch_graph(repo: HubRepo, name: str) -> Path | None:
    """A graph and, where its weights live in a second file, that one too."""
    path = repo.find(name)
    if path is not None:
        repo.find(f"{name}_data")
    return path
