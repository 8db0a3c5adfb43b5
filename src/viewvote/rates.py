"""A share of images with its interval.

Images that could not be used have no answer. They are left out of the rate and always counted beside it.
"""

from dataclasses import dataclass

import numpy as np

from .arrays import Bool

Z = 1.959963984540054
"""The normal quantile of a 95% interval."""


@dataclass(frozen=True)
class Rate:
    """A share of `n` images with its 95% interval; `errors` more images could not be used. NaN where n is 0."""

    value: float
    low: float
    high: float
    n: int
    errors: int = 0

    def __str__(self) -> str:
        text = f"{self.value:.2%} [{self.low:.2%}, {self.high:.2%}], n = {self.n}"
        return text + (f", {self.errors} unusable" if self.errors else "")


def wilson_interval(successes: float, n: int, *, z: float = Z) -> tuple[float, float]:
    """Wilson's score interval of a proportion: inside [0, 1] and sensible at 0 and n, where the usual one is empty.

    centre = (p + z^2/2n) / (1 + z^2/n),  half = z / (1 + z^2/n) * sqrt(p (1 - p) / n + z^2 / 4n^2)
    """
    if n == 0:
        return float("nan"), float("nan")
    p, spread = successes / n, z * z / n
    centre = (p + spread / 2) / (1 + spread)
    half = z / (1 + spread) * float(np.sqrt(p * (1 - p) / n + spread / (4 * n)))
    # At 0 and n the bounds are exactly 0 and 1; rounding must not leave them beside p.
    return max(0.0, min(p, centre - half)), min(1.0, max(p, centre + half))


def rate_of(hits: Bool, usable: Bool) -> Rate:
    """The share of usable images that hit, with Wilson's interval."""
    n, successes = int(usable.sum()), int((hits & usable).sum())
    low, high = wilson_interval(successes, n)
    return Rate(successes / n if n else float("nan"), low, high, n, int(len(usable) - n))
