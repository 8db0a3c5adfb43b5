"""The common hub layout of ONNX CLIP repositories (`onnx/vision_model*.onnx`, ...) read as if it were a pack."""

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from ...errors import CheckpointError, ModelNotFoundError, UnsupportedEncoderError, UsageError
from ...fields import NUMBER, POSITIVE, TABLE, TEXT, TRUTH, Fields, Kind, list_of, or_null, shown, table_of, whole
from ...images.spec import ImageSpec
from ..torch.hf_images import image_spec
from .config import FILE, PackConfig, check_format, parse_config, read_json

SIDE_FILES = ("config.json", "preprocessor_config.json", "tokenizer.json")
OPTIONAL_FILES = (FILE, "tokenizer_config.json")
CLIP_SCALE = 100.0
"""CLIP's learned scale is inside the weights of its joint graph, not in these repositories; OpenAI's and LAION's models
were trained with it clipped at 100, and end there."""

_FP32, _FP16, _INT8 = ("",), ("_fp16",), ("_quantized", "_int8", "_uint8")
_SUFFIXES = {"fp32": _FP32, "int8": _INT8, "auto": _FP32 + _FP16 + _INT8}
_SIGMOID_FAMILIES = ("siglip", "siglip2")


def graph_names(tower: str, precision: str) -> list[str]:
    """The files that may hold a tower ("vision" or "text"), best first.

    "auto" prefers full precision: the quantised files of the hub use ranges measured while running, whose accuracy
    nobody has stated, unlike the calibrated int8 tower of a pack.
    """
    return [f"onnx/{tower}_model{suffix}.onnx" for suffix in _SUFFIXES[precision]]


def read_layout(folder: Path, *, name: str) -> PackConfig:
    """The configuration that the repository's own JSON files amount to; `dim` 0 stands for what the graph has."""
    model = Fields(read_json(folder / "config.json"), str(folder / "config.json"), error=CheckpointError)
    family = model.optional("model_type", TEXT) or ""
    text = model.optional("text_config", TABLE) or {}
    tokenizer = _read_optional(folder / "tokenizer_config.json")
    sigmoid = family in _SIGMOID_FAMILIES
    data: dict[str, Any] = {
        "format": "viewvote-pack-1",
        "name": name,
        **_image_fields(read_json(folder / "preprocessor_config.json"), source=folder / "preprocessor_config.json"),
        "context_length": _context_length(text, tokenizer, default=64 if sigmoid else 77),
        "dim": 1,
        "pad_id": _pad_id(folder / "tokenizer.json", tokenizer, text),
        "scoring": "sigmoid" if sigmoid else "softmax",
        # SigLIP was trained on full contexts without a mask; CLIP's causal text tower never looks at padding.
        "pad_to": "max" if sigmoid else "longest",
    }
    if not sigmoid:
        data |= {"scale": CLIP_SCALE, "bias": 0.0}
    override = folder / FILE
    if override.is_file():
        extra = read_json(override)
        check_format(extra, source=str(override))
        data |= extra
    if "scale" not in data or "bias" not in data:
        raise CheckpointError(_NEEDS_SCALE.format(family=family, folder=folder, file=FILE))
    config = parse_config(data, source=str(folder))
    return config if "dim" in _read_optional(override) else _without_dim(config)


_NEEDS_SCALE = (
    "{folder} holds a {family} model, whose learned scale and bias are not in this layout and cannot be guessed. "
    'Copy the files into a folder of your own and add {file} with {{"format": "viewvote-pack-1", "scale": ..., "bias": '
    "...}}, taken from the original checkpoint (exp of logit_scale, and logit_bias), or export the original with "
    "`viewvote export hf:REPO --out DIR`."
)


def _without_dim(config: PackConfig) -> PackConfig:
    return PackConfig(**{**config.__dict__, "dim": 0})


def _read_optional(path: Path) -> dict[str, Any]:
    return read_json(path) if path.is_file() else {}


_PIXELS = whole(1, most=10_000)
_SIDES: Kind[Any] = Kind(
    "a number of pixels, or an object of them",
    lambda value: _PIXELS.accepts(value) or table_of(or_null(_PIXELS)).accepts(value),
)
_PREPROCESSING: dict[str, Kind[Any]] = {
    "size": _SIDES,
    "crop_size": _SIDES,
    "resample": whole(0),
    "image_mean": list_of(NUMBER, length=3),
    "image_std": list_of(POSITIVE, length=3),
    "rescale_factor": POSITIVE,
    **dict.fromkeys(("do_resize", "do_center_crop", "do_rescale", "do_normalize"), TRUTH),
}


def _image_fields(data: dict[str, Any], *, source: Path) -> dict[str, Any]:
    """size, mean, std, interpolation, resize and short_side of a `preprocessor_config.json`, read as `hf:` reads it."""
    read = Fields(data, str(source), error=CheckpointError)
    given = {key: value for key, kind in _PREPROCESSING.items() if (value := read.optional(key, kind)) is not None}
    default = ImageSpec(size=1)
    fields = {"image_mean": default.mean, "image_std": default.std, "rescale_factor": 1 / 255, **given}
    fields.setdefault("do_center_crop", "crop_size" in given)
    if isinstance(fields.get("size"), int) and fields["do_center_crop"]:  # old files; without a crop it is a square
        fields["size"] = {"shortest_edge": fields["size"]}
    try:
        spec = image_spec(SimpleNamespace(**fields), image_size=None, model_id=str(source))
    except (UnsupportedEncoderError, UsageError) as error:
        raise CheckpointError(str(error)) from error
    return {
        "size": spec.size,
        "mean": list(spec.mean),
        "std": list(spec.std),
        "interpolation": spec.interpolation,
        "resize": spec.resize,
        **({"short_side": spec.short_side} if spec.resize == "shortest" else {}),
    }


def _context_length(text: Mapping[str, Any], tokenizer: dict[str, Any], *, default: int) -> int:
    """The model's own limit; tokenizer files write absurd numbers for "no limit"."""
    limits = [n for n in (text.get("max_position_embeddings"), tokenizer.get("model_max_length")) if isinstance(n, int)]
    return min([n for n in limits if 0 < n < 100_000], default=default)


def _pad_id(path: Path, tokenizer: dict[str, Any], text: Mapping[str, Any]) -> int:
    """The id of the tokenizer's padding token; `config.json` comes last, as old CLIP models state a wrong one."""
    token = tokenizer.get("pad_token")
    content = token.get("content") if isinstance(token, dict) else token
    data = Fields(read_json(path), str(path), error=CheckpointError)
    padding = data.optional("padding", TABLE) or {}
    added = {
        str(entry.get("content")): entry.get("id") for entry in data.optional("added_tokens", list_of(TABLE)) or ()
    }
    vocabulary = (data.optional("model", TABLE) or {}).get("vocab")
    known = vocabulary if isinstance(vocabulary, dict) else {}
    named = (added.get(content), known.get(content)) if isinstance(content, str) else ()
    found = next((i for i in (*named, padding.get("pad_id"), text.get("pad_token_id")) if i is not None), 0)
    if not whole(0).accepts(found):
        raise CheckpointError(f"{path}: the padding token is {shown(found)}, expected a token id, 0 or more.")
    return int(found)


def find_graph(folder: Path, tower: str, precision: str) -> Path:
    """The best file in the folder for a tower."""
    names = graph_names(tower, precision)
    for name in names:
        if (folder / name).is_file():
            return folder / name
    raise ModelNotFoundError(
        f"{folder} has no {tower} tower for precision {precision!r}; expected {' or '.join(names)}."
    )
