"""Intervals by drawing images again with replacement, for measures that are no means over images."""

import numpy as np

from ..arrays import Float64

RESAMPLES = 1000
AT_ONCE = 50
"""Draws that are held at once; each has a weight per image."""


def resampled(counts: Float64, *, rng: np.random.Generator, resamples: int = RESAMPLES) -> Float64:
    """Sums (resamples, ...) of per-image counts (images, ...) over images drawn again with replacement."""
    n = len(counts)
    share = np.full(n, 1 / n)
    sums = [
        np.tensordot(rng.multinomial(n, share, size=min(AT_ONCE, resamples - at)).astype(np.float64), counts, axes=1)
        for at in range(0, resamples, AT_ONCE)
    ]
    return np.asarray(np.concatenate(sums))
