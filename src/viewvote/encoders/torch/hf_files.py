"""A transformers model, its tokenizer and its image processor from a folder or the hub; no code of theirs is run."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from pickle import UnpicklingError
from typing import Any, TypeVar

from huggingface_hub import constants
from safetensors import SafetensorError
from torch import nn
from transformers import MODEL_MAPPING, AutoConfig, AutoImageProcessor, AutoModel, AutoTokenizer

from ...errors import CheckpointError, MissingExtraError, ModelNotFoundError, UnsupportedEncoderError
from ..base import LoadOptions

T = TypeVar("T")


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
    source = str(folder) if folder.is_dir() else place
    offline = options.offline or constants.HF_HUB_OFFLINE
    shared = {"cache_dir": options.cache_dir, "local_files_only": offline, "trust_remote_code": False}

    def read(what: str, reader: Callable[..., T], **more: Any) -> T:
        try:
            return reader(source, **shared, **more)
        except OSError as error:
            raise _not_found(place, what, offline=offline and source == place) from error
        except ImportError as error:
            raise MissingExtraError(f"{what} of hf:{place} needs one more package: {str(error).strip()}") from error
        except (ValueError, KeyError) as error:
            raise UnsupportedEncoderError(f"transformers cannot read {what} of hf:{place}: {error}") from error

    if folder.is_dir() and not (folder / "config.json").is_file():
        raise _not_found(place, "config.json", offline=False)
    config = read("config.json", AutoConfig.from_pretrained)
    _check_dual(place, config)
    tokenizer = read("the tokenizer", AutoTokenizer.from_pretrained)
    images = read("preprocessor_config.json", AutoImageProcessor.from_pretrained)
    try:
        loaded = read("model.safetensors", _read_weights, config=config)
    except (RuntimeError, UnpicklingError, SafetensorError, EOFError) as error:
        if isinstance(error, ModelNotFoundError | UnsupportedEncoderError):
            raise
        raise CheckpointError(
            f"the weights of hf:{place} cannot be used: {error}. Expected model.safetensors, or a torch file that "
            "holds tensors only."
        ) from error
    return Parts(_complete(place, *loaded), tokenizer, images)


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


def _not_found(place: str, what: str, *, offline: bool) -> ModelNotFoundError:
    why = "it is not in the cache and the hub may not be asked (offline)" if offline else "it is not there"
    return ModelNotFoundError(
        f"cannot get {what} of hf:{place}: {why}. Expected a folder written by save_pretrained, or a hub id; fetch the "
        f"latter where there is a network with: hf download {place}"
    )
