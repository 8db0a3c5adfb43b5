"""Text heads: class names x templates to unit class embeddings, encoded once and kept on disk."""

import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np

from ..arrays import Float32
from ..errors import UsageError
from ..files import default_cache_dir, write_best_effort
from ..labels.texts import ClassTexts, prompts_of
from .base import Encoder, unit_rows

CHUNK = 256
"""Texts encoded at once: bounds memory for 1000 classes x 80 templates."""

_DIGEST = 32


@runtime_checkable
class PromptedEncoder(Protocol):
    """An encoder that brings its own prompt (CoOp, MaPLe), so templates do not apply to it."""

    def encode_class_names(self, names: Sequence[str]) -> Float32:
        """Unit features (classes, dim) of the names inside the learned prompt."""
        ...


@dataclass(frozen=True)
class TextHead:
    """One unit embedding per class."""

    features: Float32  # (classes, dim)
    cached: bool  # read from disk: no text was encoded

    @property
    def weights(self) -> Float32:
        """The classifier (dim, classes) in the shape of open_clip's `build_zero_shot_classifier`."""
        return self.features.T

    def logits(self, image_features: Float32, encoder: Encoder) -> Float32:
        """Scaled logits (views, classes) of unit image features, at the model's own scale.

        Rows are computed `BLOCK` at a time: those of whole blocks are the same bits whatever rows follow.
        """
        scale, bias = np.float32(encoder.logit_scale), np.float32(encoder.logit_bias)
        return scale * steady_product(image_features, self._tiles)[:, : len(self.features)] + bias

    @cached_property
    def _tiles(self) -> Float32:
        return class_tiles(self.features)


class BuildHead(Protocol):
    """What `build_text_head` is: a function from class names and templates to a text head."""

    def __call__(
        self,
        encoder: Encoder,
        class_names: Sequence[ClassTexts],
        *,
        templates: Sequence[str],
        cache_dir: Path | None = None,
    ) -> TextHead:
        """The text head of these classes."""
        ...


BLOCK = 8
"""Views whose logits are one product of matrices."""

ON_ONE_THREAD = 2**18
"""Multiplications up to which OpenBLAS computes a product of matrices in one thread."""


def class_tiles(features: Float32) -> Float32:
    """Class embeddings (classes, dim) as tiles (tiles, dim, width) that BLAS need not share; the last ends in zeros."""
    classes, dim = features.shape
    width = min(max(1, ON_ONE_THREAD // (BLOCK * dim)), max(1, classes))
    tiles = np.zeros((-(-classes // width), width, dim), dtype=np.float32)
    tiles.reshape(-1, dim)[:classes] = features
    return np.ascontiguousarray(tiles.transpose(0, 2, 1))


def steady_product(left: Float32, tiles: Float32) -> Float32:
    """Products (views, tiles x width) of rows (views, dim) and `class_tiles`, the same bits on any number of threads.

    BLAS adds up in another order when it shares a product among threads, or when its shape is another. So a machine
    with more cores, or an image that stops after fewer views, would differ in the last bits. Here every product has
    `BLOCK` rows and is too small to share: 7 ms instead of 12 for 64 views and 10,000 classes of 512 numbers.
    """
    rows = np.zeros((-(-len(left) // BLOCK) * BLOCK, left.shape[1]), dtype=np.float32)
    rows[: len(left)] = left
    product = np.empty((len(rows), tiles.shape[0], tiles.shape[2]), dtype=np.float32)  # (views, tiles, width)
    for start in range(0, len(rows), BLOCK):
        block = slice(start, start + BLOCK)
        product[block] = (rows[block] @ tiles).transpose(1, 0, 2)
    return product.reshape(len(rows), tiles.shape[0] * tiles.shape[2])[: len(left)]


def build_text_head(
    encoder: Encoder, class_names: Sequence[ClassTexts], *, templates: Sequence[str], cache_dir: Path | None = None
) -> TextHead:
    """The text head of these classes, read from `cache_dir` where an earlier run has kept it, else encoded."""
    path = (cache_dir or default_cache_dir()) / "text-heads" / f"{_key(encoder, class_names, templates)}.npy"
    features = _read(path, (len(class_names), encoder.dim))
    if features is not None:
        return TextHead(features, cached=True)
    features = encode_classes(encoder, class_names, templates=templates)
    _write(path, features)
    return TextHead(features, cached=False)


def encode_classes(encoder: Encoder, class_names: Sequence[ClassTexts], *, templates: Sequence[str]) -> Float32:
    """Unit class embeddings (classes, dim): each template's embedding normalised, averaged, normalised again.

    Of a class with texts of its own, these are averaged in turn and normalised: each text counts the same, whether it
    is a name in many templates or one sentence.
    """
    names = [name for name in class_names if isinstance(name, str)]
    plain = len(names) == len(class_names)
    if isinstance(encoder, PromptedEncoder):
        if not plain:
            raise UsageError(f"model {encoder.model_id!r} has a learned prompt around names; it takes no other texts.")
        return unit_rows(encoder.encode_class_names(names))
    prompts = [prompts_of(name, templates) for name in class_names]
    rows = _encode_all(encoder, [prompt for texts in prompts for text in texts for prompt in text])
    if plain:
        return unit_rows(rows.reshape(len(names), len(templates), -1).mean(axis=1))
    sizes = [len(text) for texts in prompts for text in texts]
    of_texts = unit_rows(np.stack([part.mean(axis=0) for part in np.split(rows, np.cumsum(sizes)[:-1])]))
    counts = [len(texts) for texts in prompts]
    of_classes = np.split(of_texts, np.cumsum(counts)[:-1])
    return np.concatenate([part if len(part) == 1 else unit_rows(part.mean(axis=0)[None]) for part in of_classes])


def _encode_all(encoder: Encoder, texts: Sequence[str]) -> Float32:
    """Unit embeddings (texts, dim)."""
    return unit_rows(np.concatenate([encoder.encode_texts(texts[i : i + CHUNK]) for i in range(0, len(texts), CHUNK)]))


def _key(encoder: Encoder, class_names: Sequence[ClassTexts], templates: Sequence[str]) -> str:
    names = [name if isinstance(name, str) else prompts_of(name, templates) for name in class_names]
    parts = [encoder.model_id, encoder.fingerprint, list(templates), names]
    return blake2b(json.dumps(parts).encode(), digest_size=20).hexdigest()


def _read(path: Path, shape: tuple[int, int]) -> Float32 | None:
    """The cached features, or None where the file is missing, cut short, damaged or of another shape."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    if blake2b(data[_DIGEST:], digest_size=_DIGEST).digest() != data[:_DIGEST]:
        return None
    features: Float32 = np.load(io.BytesIO(data[_DIGEST:]), allow_pickle=False)
    return features if features.shape == shape and features.dtype == np.float32 else None


def _write(path: Path, features: Float32) -> None:
    body = io.BytesIO()
    np.save(body, features, allow_pickle=False)
    data = body.getvalue()
    write_best_effort(path, blake2b(data, digest_size=_DIGEST).digest() + data)
