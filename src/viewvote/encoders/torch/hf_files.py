"""A transformers model, its tokenizer and its image processor from a folder or the hub; no code of theirs is run."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from pickle import UnpicklingError
from typing import Any, TypeVar

from safetensors import SafetensorError
from torch import nn
from transformers import MODEL_MAPPING, AutoConfig, AutoImageProcessor, AutoModel, AutoTokenizer

from ...errors import CheckpointError, MissingExtraError, ModelNotFoundError, UnsupportedEncoderError
from ...reading import read_json
from ..at_hand import CONFIG, fetch_of
from ..base import LoadOptions
from ..hub import HubRepo

T = TypeVar("T")
SIDE_FILES = (
    "preprocessor_config.json",
    "processor_config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.json",
    "merges.txt",
    "vocab.txt",
    "spiece.model",
    "tokenizer.model",
    "sentencepiece.bpe.model",
)
"""What the image processors and tokenizers of dual encoders are made of; each repository has some of them."""
WEIGHTS = ("model.safetensors", "model.safetensors.index.json", "pytorch_model.bin", "pytorch_model.bin.index.json")


@dataclass(frozen=True)
class Parts:
    """What a transformers repository holds; the model is in float32 on the CPU."""

    model: Any
    tokenizer: Any
    images: Any


def load_parts(place: str, options: LoadOptions) -> Parts:
    """The parts of the hub id or folder `place`; every weight comes from its files."""
    folder = Path(place).expanduser()
    if place.startswith((".", "/", "~")) and not folder.is_dir():
        raise ModelNotFoundError(f"no folder {place!r}; expected one written by transformers' save_pretrained.")
    if folder.is_dir():
        return _read_folder(folder, place)
    repo = HubRepo(place, cache_dir=options.cache_dir, offline=options.offline)
    folder = fetch_of(repo, CONFIG).parent
    _check_dual(place, _read(place, CONFIG, AutoConfig.from_pretrained, folder))  # before the weights are fetched
    for name in SIDE_FILES:
        repo.find(name)
    _fetch_weights(repo)
    return _read_folder(folder, place)


def _fetch_weights(repo: HubRepo) -> None:
    """Fetch the first kind of weights that the repository has, and where that is an index, the files it lists."""
    found = fetch_of(repo, *WEIGHTS)
    if found.suffix == ".json":
        shards = read_json(found, error=CheckpointError).get("weight_map")
        for name in sorted({str(name) for name in shards.values()}) if isinstance(shards, dict) else ():
            if Path(name).name != name:
                raise CheckpointError(f"{found} lists {name!r} as a file of weights; expected names without folders.")
            fetch_of(repo, name)


def _read_folder(folder: Path, place: str) -> Parts:
    if not (folder / CONFIG).is_file():
        raise _not_found(place, CONFIG)
    config = _read(place, CONFIG, AutoConfig.from_pretrained, folder)
    _check_dual(place, config)
    tokenizer = _read(place, "the tokenizer", AutoTokenizer.from_pretrained, folder)
    images = _read(place, "preprocessor_config.json", AutoImageProcessor.from_pretrained, folder)
    try:
        loaded = _read(place, "model.safetensors", _read_weights, folder, config=config)
    except (RuntimeError, UnpicklingError, SafetensorError, EOFError) as error:
        if isinstance(error, ModelNotFoundError | UnsupportedEncoderError):
            raise
        raise CheckpointError(
            f"the weights of hf:{place} cannot be used: {error}. Expected model.safetensors, or a torch file that "
            "holds tensors only."
        ) from error
    return Parts(_complete(place, *loaded), tokenizer, images)


def _read(place: str, what: str, reader: Callable[..., T], folder: Path, **more: Any) -> T:
    """What transformers reads of the folder; its errors become ours, which name `place`."""
    try:
        return reader(str(folder), local_files_only=True, trust_remote_code=False, **more)
    except OSError as error:
        raise _not_found(place, what) from error
    except ImportError as error:
        raise MissingExtraError(f"{what} of hf:{place} needs one more package: {str(error).strip()}") from error
    except (ValueError, KeyError) as error:
        raise UnsupportedEncoderError(f"transformers cannot read {what} of hf:{place}: {error}") from error


def _check_dual(place: str, config: Any) -> None:
    kind = MODEL_MAPPING.get(type(config), None)
    if not all(hasattr(kind, name) for name in ("get_image_features", "get_text_features")):
        raise UnsupportedEncoderError(
            f"hf:{place} is a {config.model_type!r} model, which does not give image and text features; expected a "
            "dual encoder such as CLIP or SigLIP."
        )


def _read_weights(source: str, **options: Any) -> tuple[nn.Module, dict[str, Any]]:
    """The model and transformers' report of what it did not find; torch files are read as tensors only."""
    reading = {**options, "output_loading_info": True, "weights_only": True}
    try:
        model, report = AutoModel.from_pretrained(source, use_safetensors=True, **reading)
    except OSError:
        model, report = AutoModel.from_pretrained(source, use_safetensors=False, **reading)
    return model, report


def _complete(place: str, model: nn.Module, report: dict[str, Any]) -> nn.Module:
    """The model in float32, or an error where transformers filled a gap with random weights."""
    gaps = sorted(str(key) for key in report["missing_keys"] if not str(key).endswith("position_ids"))
    if gaps:
        raise CheckpointError(
            f"the weights of hf:{place} lack {len(gaps)} tensors, such as {', '.join(gaps[:3])}; expected all of "
            f"{type(model).__name__}. Check that the files belong together."
        )
    return model.float()


def _not_found(place: str, what: str) -> ModelNotFoundError:
    return ModelNotFoundError(
        f"cannot get {what} of hf:{place}: it is not there. Expected a folder written by save_pretrained, or a hub id; "
        f"fetch the latter where there is a network with: hf download {place}"
    )
