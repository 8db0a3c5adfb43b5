"""App. G: what views lose against source images and what ZERO gains, over datasets, and how they go together."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..metrics.accuracy import Z

Float64 = NDArray[np.float64]
PUBLISHED = -0.95


def ranks(values: ArrayLike) -> Float64:
    """Ranks from 1; equal values share the mean of theirs."""
    found = np.asarray(values, dtype=np.float64)
    _, group, size = np.unique(found, return_inverse=True, return_counts=True)
    last = np.cumsum(size)
    return np.asarray((last - (size - 1) / 2)[group])


def spearman(first: ArrayLike, second: ArrayLike) -> float:
    """Spearman's coefficient: Pearson's of the ranks; NaN where one side is constant or there are fewer than two."""
    a, b = ranks(first), ranks(second)
    if len(a) < 2 or a.std() == 0 or b.std() == 0:
        return float("nan")
    return float(np.clip(np.mean((a - a.mean()) * (b - b.mean())) / (a.std() * b.std()), -1.0, 1.0))


def spearman_interval(coefficient: float, n: int) -> tuple[float, float]:
    """Its 95% interval by Fisher's z with the variance (1 + r^2 / 2) / (n - 3) (Bonett and Wright, 2000)."""
    if n < 4 or not abs(coefficient) < 1:
        return float("nan"), float("nan")
    half = Z * ((1 + coefficient**2 / 2) / (n - 3)) ** 0.5
    return float(np.tanh(np.arctanh(coefficient) - half)), float(np.tanh(np.arctanh(coefficient) + half))
