"""The promises of an Encoder."""

from collections.abc import Sequence
from math import isfinite
from typing import get_args

import numpy as np

from ..arrays import Float32, UInt8
from ..encoders.base import Encoder, Scoring, checked_encoder
from ..encoders.text_head import PromptedEncoder
from ..errors import ContractError, UsageError
from ..images.spec import ImageSpec
from .expect import expect

TEXTS = ("a photo of a cat.", "a photo of a red fox.", "dog", "a photo of a very old wooden rocking chair.")
MOST_VIEWS = 40
"""Views of one call at most; blocks of more than that are not looked at."""


def check_encoder(encoder: Encoder, *, texts: Sequence[str] = TEXTS) -> None:
    """Raise ContractError unless the encoder keeps every promise of the Encoder protocol.

    It is asked for the features of some dozens of views of noise, several times.

    Args:
        encoder: An object, not its class.
        texts: At least two different texts that the encoder can be asked about.
    """
    try:
        checked_encoder(encoder, role="the encoder")
    except UsageError as error:
        raise ContractError(str(error)) from error
    _check_facts(encoder)
    views = _noise(encoder)
    _check_images(encoder, views)
    _check_blocks(encoder, views)
    _check_refusals(encoder, views)
    _check_texts(encoder, list(texts))


def _check_facts(encoder: Encoder) -> None:
    expect(isinstance(encoder.model_id, str) and encoder.model_id != "", "model_id must be a text that is not empty")
    expect(isinstance(encoder.fingerprint, str) and encoder.fingerprint != "", "fingerprint must be a text, not empty")
    expect(encoder.fingerprint == encoder.fingerprint, "fingerprint must be the same each time it is read")
    expect(isinstance(encoder.image_spec, ImageSpec), "image_spec must be an ImageSpec")
    expect(type(encoder.dim) is int and encoder.dim > 0, f"dim must be a whole number above 0, got {encoder.dim!r}")
    scale, bias, block = encoder.logit_scale, encoder.logit_bias, encoder.block_views
    expect(isfinite(scale) and scale > 0, f"logit_scale must be a finite number above 0, got {scale!r}")
    expect(isfinite(bias), f"logit_bias must be a finite number, got {bias!r}")
    expect(encoder.scoring in get_args(Scoring), f"scoring must be one of {get_args(Scoring)}, got {encoder.scoring!r}")
    whole = block is None or (type(block) is int and block > 0)
    expect(whole, f"block_views must be None or a whole number above 0, got {block!r}")
    expect(isinstance(encoder.linear_cost, bool), f"linear_cost must be True or False, got {encoder.linear_cost!r}")


def _noise(encoder: Encoder) -> UInt8:
    """Views of noise: two whole blocks and one more view, or few where nothing is known of blocks."""
    block, size = encoder.block_views or 2, encoder.image_spec.size
    shape = (min(2 * block + 1, MOST_VIEWS), size, size, 3)
    return np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)


def _check_images(encoder: Encoder, views: UInt8) -> None:
    before = views.copy()
    features = encoder.encode_images(views)
    _check_rows(features, len(views), encoder.dim, "encode_images")
    expect(bool((views == before).all()), "encode_images must leave its views as they are")
    again = encoder.encode_images(views)
    expect(_same(features, again), "encode_images must give the same features for the same views, to the last bit")
    _check_rows(encoder.encode_images(views[:0]), 0, encoder.dim, "encode_images of no views")


def _check_blocks(encoder: Encoder, views: UInt8) -> None:
    block = encoder.block_views
    if block is None:
        return
    whole = encoder.encode_images(views)
    for start in range(0, len(views), block):
        part = encoder.encode_images(views[start : start + block])
        expect(
            _same(part, whole[start : start + block]),
            f"block_views is {block}, so views {start} to {min(start + block, len(views)) - 1} must have the same "
            "features, to the last bit, whatever is encoded with them; set block_views to None where that is not so",
        )


def _check_refusals(encoder: Encoder, views: UInt8) -> None:
    wrong = {
        "float32 views": views.astype(np.float32),
        "views of another size": views[:, :-1, :-1],
        "one view without an axis of views": views[0],
    }
    for what, pixels in wrong.items():
        try:
            encoder.encode_images(pixels)
        except UsageError:
            continue
        raise ContractError(f"encode_images must raise UsageError for {what} (viewvote.encoders.checked_views does)")


def _check_texts(encoder: Encoder, texts: list[str]) -> None:
    features = encoder.encode_texts(texts)
    _check_rows(features, len(texts), encoder.dim, "encode_texts")
    expect(_same(features, encoder.encode_texts(texts)), "encode_texts must give the same features for the same texts")
    backwards = encoder.encode_texts(texts[::-1])[::-1]
    near = bool(np.allclose(features, backwards, atol=1e-3))
    expect(near, "the feature of a text must not depend on the texts around it (beyond 0.001)")
    _check_rows(encoder.encode_texts([]), 0, encoder.dim, "encode_texts of no texts")
    if isinstance(encoder, PromptedEncoder):
        _check_rows(encoder.encode_class_names(texts), len(texts), encoder.dim, "encode_class_names")


def _check_rows(features: Float32, rows: int, dim: int, what: str) -> None:
    expect(isinstance(features, np.ndarray), f"{what} must give a NumPy array, got {type(features).__name__}")
    expect(features.dtype == np.float32, f"{what} must give float32, got {features.dtype}")
    expect(features.shape == (rows, dim), f"{what} must give shape {(rows, dim)}, got {features.shape}")
    expect(bool(np.isfinite(features).all()), f"{what} must give finite numbers")
    lengths = np.linalg.norm(features.astype(np.float64), axis=1)
    worst = float(np.abs(lengths - 1).max(initial=0.0))
    expect(worst < 1e-3, f"{what} must give rows of length 1 (viewvote.encoders.unit_rows); one is off by {worst:.3g}")


def _same(one: Float32, other: Float32) -> bool:
    return one.tobytes() == other.tobytes()
