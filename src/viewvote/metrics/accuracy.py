"""How often the answer is right, with an interval: top-1, top-5, macro, and over seeds.

Images that could not be used have no answer. They are left out of the rate and always counted beside it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import Bool, Int64
from ..rates import Rate, Z, rate_of
from ..records.columns import Columns


@dataclass(frozen=True)
class OverSeeds:
    """Mean and sample standard deviation (n - 1) of one number per seed; the deviation of a single seed is None."""

    mean: float
    std: float | None
    seeds: int


def top1(columns: Columns) -> Rate:
    """The share of images whose answer is the target (the number in the paper's tables)."""
    return rate_of(columns.correct, columns.usable)


def top5(columns: Columns) -> Rate:
    """The share of images whose target is among the five best classes."""
    return rate_of((columns.top5 == columns.target[:, None]).any(axis=1), columns.usable)


def macro_accuracy(target: Int64, correct: Bool, usable: Bool) -> Rate:
    """The mean over classes of each class's accuracy, every class with a usable image counting the same.

    Its interval is normal: the variance of a class's accuracy is s (1 - s) / n_c, with s the class's rate after four
    images at the pooled rate are added, so that a class with a single image does not pretend to be certain. The pooled
    rate itself has two successes and two failures added (Agresti and Coull).
    """
    n = int(usable.sum())
    errors = int(len(usable) - n)
    if n == 0:
        return Rate(float("nan"), float("nan"), float("nan"), 0, errors)
    of_class = np.bincount(target[usable])
    right = np.bincount(target[usable], weights=correct[usable], minlength=len(of_class))[of_class > 0]
    of_class = of_class[of_class > 0]
    value = float((right / of_class).mean())
    shrunk = (right + 4 * (right.sum() + 2) / (n + 4)) / (of_class + 4)
    half = Z * float(np.sqrt((shrunk * (1 - shrunk) / of_class).sum())) / len(of_class)
    return Rate(value, max(0.0, value - half), min(1.0, value + half), n, errors)


def over_seeds(values: Sequence[float]) -> OverSeeds:
    """Mean and standard deviation over seeds (Sec. 4.1 reports three)."""
    std = float(np.std(values, ddof=1)) if len(values) > 1 else None
    return OverSeeds(float(np.mean(values)), std, len(values))


def pooled(rates: Sequence[Rate]) -> Rate:
    """The mean rate of runs on the same images that differ by seed only.

    More seeds are no more images: the ends of the interval are averaged, so it stays as wide as that of one run and
    shows the uncertainty from the choice of images; the deviation over seeds stands beside it.
    """
    value, low, high = np.mean([(rate.value, rate.low, rate.high) for rate in rates], axis=0)
    fewest, most = min(rate.n for rate in rates), max(rate.errors for rate in rates)
    return Rate(float(value), float(low), float(high), fewest, most)
