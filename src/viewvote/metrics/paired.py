"""Is one run better than another on the same images? McNemar's test and the paired bootstrap."""

from dataclasses import dataclass

import numpy as np

from ..arrays import Bool, Float64

RESAMPLES = 10_000


@dataclass(frozen=True)
class McNemar:
    """The images that only one of two runs gets right, and the two-sided p-values that they do so equally often.

    exact  the binomial test: never too small, on few images too large
    mid_p  the binomial test with half the weight on what was observed: close to its nominal level; we decide by it
    """

    only_first: int
    only_second: int
    exact: float
    mid_p: float


@dataclass(frozen=True)
class Difference:
    """Mean of second minus first over `n` images, with the 95% percentile interval of the paired bootstrap."""

    value: float
    low: float
    high: float
    n: int


def mcnemar(first: Bool, second: Bool) -> McNemar:
    """McNemar's test on whether each image is right under either run; images that both get right or wrong say nothing.

    With b and c images that only one gets right, X ~ Binomial(b + c, 1/2) and m = min(b, c):
    exact p = min(1, 2 P(X <= m)),  mid-p = 2 P(X < m) + P(X = m).
    """
    b, c = int((first & ~second).sum()), int((second & ~first).sum())
    n, m = b + c, min(b, c)
    steps = np.arange(1, m + 1)
    log_choose = np.concatenate([[0.0], np.cumsum(np.log(n - steps + 1) - np.log(steps))])
    terms = np.exp(log_choose - n * np.log(2.0))  # P(X = 0), ..., P(X = m)
    below, at = float(terms[:-1].sum()), float(terms[-1])
    return McNemar(b, c, exact=min(1.0, 2 * (below + at)), mid_p=min(1.0, 2 * below + at))


def paired_bootstrap(differences: Float64, *, rng: np.random.Generator, resamples: int = RESAMPLES) -> Difference:
    """The mean of per-image differences with the interval of means over images drawn again with replacement.

    Differences take few values (-1, 0, 1; thirds for three seeds), so how often each is drawn is one multinomial draw:
    the same distribution as drawing images one by one.
    """
    n = len(differences)
    if n == 0:
        return Difference(float("nan"), float("nan"), float("nan"), 0)
    values, counts = np.unique(differences, return_counts=True)
    means = rng.multinomial(n, counts / n, size=resamples) @ values / n
    low, high = np.quantile(means, [0.025, 0.975])
    return Difference(float(np.mean(differences)), float(low), float(high), n)
