"""A test double whose features can be computed by hand: the mean colour of a view, the colour word of a text."""

from collections.abc import Sequence

import numpy as np

from ..arrays import Float32, UInt8
from ..images.spec import ImageSpec
from .base import BaseEncoder, LoadOptions, checked_views, unit_rows

COLOURS: dict[str, tuple[float, float, float]] = {
    "red": (1, 0, 0),
    "green": (0, 1, 0),
    "blue": (0, 0, 1),
    "yellow": (1, 1, 0),
    "magenta": (1, 0, 1),
    "cyan": (0, 1, 1),
    "white": (1, 1, 1),
}


class ToyEncoder(BaseEncoder):
    """An Encoder that knows seven colours, for tests and first steps; it runs anywhere and downloads nothing.

    A view's feature is its mean RGB divided by its length (a black view has none and scores 0 everywhere). A text's
    feature is the RGB of the first colour word in it, divided by its length; a text without one counts as white.
    """

    model_id = "toy"
    fingerprint = "toy-1"
    dim = 3
    block_views = 1
    linear_cost = True

    def __init__(self, *, size: int = 32, logit_scale: float = 20.0) -> None:
        self.image_spec = ImageSpec(size=size, interpolation="bilinear")
        self.logit_scale = logit_scale

    def encode_images(self, views: UInt8) -> Float32:
        """Unit mean colours (views, 3)."""
        pixels = checked_views(views, self).reshape(len(views), self.image_spec.size**2, 3)
        return unit_rows(pixels.mean(axis=1, dtype=np.float64).astype(np.float32))

    def encode_texts(self, texts: Sequence[str]) -> Float32:
        """Unit colours (texts, 3) of the first colour word of each text."""
        return unit_rows(np.array([_colour(text) for text in texts], dtype=np.float32).reshape(-1, 3))


def load(rest: str, options: LoadOptions) -> ToyEncoder:
    """The toy encoder; it has no weights and no options."""
    del rest, options
    return ToyEncoder()


def _colour(text: str) -> tuple[float, float, float]:
    words = "".join(c if c.isalpha() else " " for c in text.lower()).split()
    return next((COLOURS[word] for word in words if word in COLOURS), COLOURS["white"])
