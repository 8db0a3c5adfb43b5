"""How likely an answer is to be right: from the source view, the kept views, and a fit of three numbers.

A vote's share is no probability: confident views are over-confident (Sec. 3.1). The source view's probabilities, where
the model's temperature was fitted, and those of the kept views, blended, come nearer; what is left is fitted.
"""

from dataclasses import asdict, dataclass
from math import exp, isfinite, log, log1p

import numpy as np

from .arrays import Float32, Float64
from .errors import UsageError

LEAST = 1e-12
"""Probabilities below it are taken for it, where their logarithm is needed."""


@dataclass(frozen=True)
class ProbabilityFit:
    """From the views' probabilities of the answer to how often such answers are right.

    source  the source view's part in the blend; the rest is the mean of the kept views, so far as these are many
            (`source_part`). Of voting methods only
    slope   the log odds of the answer in the blend are multiplied by it
    offset  and this is added to them
    most    no answer is more likely than this: some are wrong however sure the views are

    Those of a model that nobody has fitted leave the blend as it is.
    """

    source: float = 0.5
    slope: float = 1.0
    offset: float = 0.0
    most: float = 1.0

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
                raise UsageError(f"{name} of a probability's fit is a number; got {value!r}.")
        if not 0 <= self.source <= 1:
            raise UsageError(f"source is a part of the blend, between 0 and 1; got {self.source}.")
        if not 0 < self.most <= 1:
            raise UsageError(f"most is the largest probability, above 0 and at most 1; got {self.most}.")
        if self.slope <= 0:
            raise UsageError(f"slope must be above 0, or surer answers would be less likely; got {self.slope}.")

    def apply(self, probability: float) -> float:
        """The fitted probability of an answer that has this one in the blend."""
        if (self.slope, self.offset) == (1.0, 0.0):
            return self.most * probability
        return self.most / (1 + exp(-min(700.0, max(-700.0, self.offset + self.slope * log_odds(probability)))))


def source_part(source: float, kept: int) -> float:
    """The source view's part in the blend with so many kept views: few are the surest of few, and know less.

    As if the source view were one more of the kept views: of one, these have half of the part that very many have.
    """
    return 1 - (1 - source) * kept / (kept + 1)


def log_odds(probability: float) -> float:
    """log(p / (1 - p)), of 0 and 1 that of their nearest neighbours."""
    inside = min(1 - LEAST, max(LEAST, probability))
    return log(inside) - log1p(-inside)


def led_by(probabilities: Float64, answer: int) -> Float64:
    """The probabilities (labels,) with the answer in front: it shares alike with those above it, so long as any is.

    Of all vectors of the same sum that the answer leads, this is the nearest.
    """
    own = probabilities[answer]
    if own >= probabilities.max():
        return probabilities
    total, count = own, 1
    for value in np.sort(probabilities[probabilities > own])[::-1]:
        if value <= total / count:
            break
        total, count = total + value, count + 1
    level = total / count
    led: Float64 = np.minimum(probabilities, np.nextafter(level, 0.0))
    led[answer] = level
    return led


def within_reach(probability: float, blend: Float64, answer: int) -> float:
    """The probability, moved to where the answer of this blend can have it: in front, and not alone if it is not."""
    equal = int(np.count_nonzero(blend >= blend[answer] * (1 - 1e-9)))
    return min(max(probability, 1 / len(blend)), 1 / equal)


def spread(blend: Float32, answer: int, probability: float) -> Float32:
    """The blend (labels,) at the temperature where the answer, which leads it, has this probability."""
    logs = np.log(np.maximum(blend.astype(np.float64), LEAST))
    behind = logs - logs[answer]  # at most 0, but for rounding
    wanted = -log(max(probability, LEAST))
    power = 1.0
    for _ in range(60):  # Newton on the log of the sum, convex and falling: from the left it never overshoots
        odds = np.exp(power * behind)
        total = odds.sum()
        off = log(total) - wanted
        slope = float(odds @ behind) / total
        if abs(off) < 1e-7 or slope > -1e-12:
            break
        power = max(0.0, power - off / slope)
    found = np.exp(power * behind)
    rest = found.sum() - found[answer]
    if rest > 0:
        found *= (1 - probability) / rest
    top = np.float32(probability)
    fitted: Float32 = np.minimum(found.astype(np.float32), np.nextafter(top, np.float32(0)))
    fitted[answer] = top
    return fitted
