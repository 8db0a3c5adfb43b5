"""Which image tower an encoder has: fingerprints are of texts, a probe is of what the tower makes of a picture."""

from collections.abc import Sequence

import numpy as np

from .base import Encoder

TOLERANCE = 1e-3
"""Features of unit length differ by less between machines, and by more between weights or precisions."""


def probe(encoder: Encoder) -> list[float]:
    """The first features of a fixed picture."""
    size = encoder.image_spec.size
    picture = (np.arange(size * size * 3) % 251).astype(np.uint8).reshape(1, size, size, 3)
    return [float(value) for value in encoder.encode_images(picture)[0, :8]]


def same_probe(one: Sequence[float], other: Sequence[float]) -> bool:
    """Whether both can be of one image tower."""
    return len(one) == len(other) and np.allclose(one, other, atol=TOLERANCE)
