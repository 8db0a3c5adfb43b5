"""A mean over images with its interval, for measures that are no counts of right answers."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..rates import Z


@dataclass(frozen=True)
class Mean:
    """A mean of one number per image with its normal 95% interval; NaN where there is none, or a single image."""

    value: float
    low: float
    high: float
    n: int


def mean_of(values: ArrayLike) -> Mean:
    """mean +- 1.96 s / sqrt(n), s the sample deviation. What views of one image say must be averaged before."""
    found = np.asarray(values, dtype=np.float64)
    n = len(found)
    value = float(found.mean()) if n else float("nan")
    half = Z * float(found.std(ddof=1)) / n**0.5 if n > 1 else float("nan")
    return Mean(value, value - half, value + half, n)


def share_of(values: ArrayLike) -> Mean:
    """`mean_of` of shares between 0 and 1, its interval cut off there."""
    found = mean_of(values)
    low, high = float(np.clip(found.low, 0.0, 1.0)), float(np.clip(found.high, 0.0, 1.0))
    return Mean(found.value, low, high, found.n)


def pooled_means(means: Sequence[Mean]) -> Mean:
    """The mean over runs on the same images that differ by seed only; the ends of intervals are averaged."""
    value, low, high = np.mean([(mean.value, mean.low, mean.high) for mean in means], axis=0)
    return Mean(float(value), float(low), float(high), min(mean.n for mean in means))
