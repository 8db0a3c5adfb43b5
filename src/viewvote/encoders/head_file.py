"""Text heads in files: class vectors made elsewhere, or exported, in place of a text tower."""

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Float32
from ..errors import MissingExtraError, UsageError
from ..fields import POSITIVE, TEXT, Fields, Kind, list_of
from ..outputs import put_output
from ..reading import open_regular, parse_json, read_json, reason
from .base import Encoder, unit_rows
from .text_head import TextHead

SUFFIXES = (".npy", ".safetensors")
TENSOR, METADATA = "features", "viewvote"
UNIT = 0.02
"""How far a row's length may be from 1: vectors are often stored in half precision."""

SAME = 1e-6
SCALES = 0.01


@dataclass(frozen=True)
class HeadFile:
    """Class vectors (classes, dim) and what is written beside them; None is not written.

    labels     the classes in the order of the rows
    templates  the texts they were made of
    model      the model whose text tower made them
    scale      the factor on cosines that they were trained with
    """

    path: Path
    features: Float32
    labels: tuple[str, ...] | None = None
    templates: tuple[str, ...] | None = None
    model: str | None = None
    scale: float | None = None

    def is_of(self, labels: Sequence[str]) -> bool:
        """Whether the rows can be of these labels: as many, and the same names where they are written."""
        return len(self.features) == len(labels) and self.labels in (None, tuple(labels))

    @property
    def fingerprint(self) -> str:
        """12 hex digits of what decides the answers."""
        data = np.ascontiguousarray(self.features).tobytes() + json.dumps([self.labels, self.scale]).encode()
        return sha256(data).hexdigest()[:12]


def read_head_file(path: Path) -> HeadFile:
    """The head in an .npy file, with FILE.json beside it where there is one, or in a safetensors file."""
    checked_suffix(path)
    found, info = _read_npy(path) if path.suffix == ".npy" else _read_safetensors(path)
    if found.ndim != 2 or found.dtype.kind not in "fiu":
        raise UsageError(f"{path} is no text head: it needs numbers (classes, width); got {found.dtype} {found.shape}.")
    with np.errstate(over="ignore"):
        features = np.asarray(found, dtype=np.float32)
    if not np.isfinite(features).all():
        raise UsageError(f"{path} is no text head: it holds numbers that are not finite.")
    return HeadFile(path, features, **_info_fields(info, f"what is written beside {path}"))


def _read_npy(path: Path) -> tuple[NDArray[Any], object]:
    (text,) = beside(path)
    info = read_json(text, error=UsageError) if text.exists() else {}
    try:
        with open_regular(path) as file:
            data = file.read()
        return np.lib.format.read_array(io.BytesIO(data), allow_pickle=False), info
    except OSError as error:
        raise UsageError(f"cannot read the text head {path}: {reason(error)}.") from error
    except (ValueError, MemoryError, OverflowError, SyntaxError, TokenError) as error:  # a header may be anything
        raise UsageError(f"the text head {path} is not a whole .npy file: {error}.") from error


def _read_safetensors(path: Path) -> tuple[NDArray[Any], object]:
    try:
        from safetensors import SafetensorError, safe_open
    except ImportError as error:
        raise MissingExtraError.for_extra("torch", what="Reading safetensors") from error
    try:
        open_regular(path).close()
        with safe_open(path, framework="np") as file:
            text = (file.metadata() or {}).get(METADATA, "{}")
            found: NDArray[Any] = file.get_tensor(TENSOR)
    except OSError as error:
        raise UsageError(f"cannot read the text head {path}: {reason(error)}.") from error
    except (SafetensorError, TypeError, AttributeError, KeyError) as error:  # the last three: types that NumPy lacks
        raise UsageError(f"{path} is no text head: {error}.") from error
    return found, parse_json(text, source=f"what is written in {path}", error=UsageError)


def _info_fields(info: object, source: str) -> dict[str, Any]:
    """The fields of a HeadFile in what was written down, or an error that names what is wrong."""
    read = Fields(info, source, error=UsageError)
    kinds: dict[str, Kind[Any]] = {
        "labels": list_of(TEXT),
        "templates": list_of(TEXT),
        "model": TEXT,
        "scale": POSITIVE,
    }
    return {key: read.optional(key, kind) for key, kind in kinds.items()}


def open_head(file: HeadFile, labels: Sequence[str], encoder: Encoder) -> TextHead:
    """The head for these labels and this model.

    Raise UsageError unless order, width, norm and scale fit, and labels of different names have different vectors.
    """
    features, path = file.features, file.path
    expected = (len(labels), encoder.dim)
    if features.shape != expected:
        turned = " It is the other way round: save its transpose." if features.shape == expected[::-1] else ""
        raise UsageError(f"{path} holds {features.shape}; expected (labels, width of the model) = {expected}.{turned}")
    if file.labels is not None and file.labels != tuple(labels):
        at = next((i for i, pair in enumerate(zip(file.labels, labels, strict=False)) if pair[0] != pair[1]), None)
        there = (
            "it has another number of labels"
            if at is None
            else f"label {at} is {file.labels[at]!r}, not {labels[at]!r}"
        )
        same = " (the same labels in another order)" if sorted(file.labels) == sorted(labels) else ""
        raise UsageError(f"{path} is of other labels: {there}{same}. Rows are in the order of the labels.")
    norms = np.linalg.norm(features, axis=1)
    if (np.abs(norms - 1) > UNIT).any():
        worst = int(np.abs(norms - 1).argmax())
        raise UsageError(
            f"{path}: row {worst} has length {norms[worst]:.3f}; expected unit vectors. Normalise each row."
        )
    if file.scale is not None and abs(file.scale / encoder.logit_scale - 1) > SCALES:
        raise UsageError(
            f"{path} was made for a scale of {file.scale:g} and {encoder.model_id} has {encoder.logit_scale:g}: they "
            "are not of one model."
        )
    _check_duplicates(features, labels, path)
    return TextHead(unit_rows(features), cached=True)


def _check_duplicates(features: Float32, labels: Sequence[str], path: Path) -> None:
    """Raise UsageError where labels with different names have one vector: a row was repeated."""
    order = np.lexsort(features.T[::-1])
    for first, second in zip(order[:-1].tolist(), order[1:].tolist(), strict=True):
        if labels[first] != labels[second] and np.abs(features[first] - features[second]).max() <= SAME:
            first, second = sorted((first, second))
            raise UsageError(
                f"{path}: rows {first} ({labels[first]!r}) and {second} ({labels[second]!r}) are the same."
            )


def write_head_file(path: Path, features: Float32, *, info: Mapping[str, Any]) -> None:
    """Write a head that `read_head_file` reads: .npy with a .json beside it, or safetensors."""
    checked_suffix(path)
    if path.suffix == ".npy":
        out = io.BytesIO()
        np.save(out, features, allow_pickle=False)
        put_output(path, out.getvalue())
        for text in beside(path):
            put_output(text, json.dumps(info, indent=1, ensure_ascii=False) + "\n")
        return
    try:
        from safetensors.numpy import save
    except ImportError as error:
        raise MissingExtraError.for_extra("torch", what="Writing safetensors") from error
    put_output(path, save({TENSOR: np.ascontiguousarray(features)}, metadata={METADATA: json.dumps(info)}))


def checked_suffix(path: Path) -> Path:
    """The path; UsageError unless its ending is one of a text head's."""
    if path.suffix not in SUFFIXES:
        raise UsageError(f"a text head is a file that ends in {' or '.join(SUFFIXES)}; got {path.name!r}.")
    return path


def beside(path: Path) -> tuple[Path, ...]:
    """The other files of a text head at `path`: what an .npy file cannot hold."""
    return (path.with_suffix(".json"),) if path.suffix == ".npy" else ()
