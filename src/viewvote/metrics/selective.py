"""What confidence is worth for leaving images out: risk at every coverage and the area under that curve."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Float64


@dataclass(frozen=True)
class RiskCoverage:
    """The error rate among the most confident images, for each number of images answered."""

    coverage: Float64  # (images,): 1/n, 2/n, ..., 1
    risk: Float64

    @property
    def aurc(self) -> float:
        """The area under the curve: the mean risk over all coverages; smaller is better, 0 without errors."""
        return float(self.risk.mean()) if len(self.risk) else float("nan")

    def coverage_at(self, risk: float) -> float:
        """The largest share of images that can be answered with at most this rate of errors among them."""
        within = np.flatnonzero(self.risk <= risk)
        return float(self.coverage[within[-1]]) if len(within) else 0.0


def risk_coverage(confidence: ArrayLike, correct: ArrayLike) -> RiskCoverage:
    """The curve over images ordered by confidence: risk_i = errors among the first i / i.

    Vote shares are often equal. Equal confidences come in no order, so within them the errors are spread evenly: the
    curve is the mean over all orders, and does not depend on how the records lie.
    """
    sure = np.asarray(confidence, dtype=np.float64)
    wrong = 1.0 - np.asarray(correct, dtype=np.float64)
    n = len(sure)
    if n == 0:
        return RiskCoverage(np.zeros(0), np.zeros(0))
    _, group, size = np.unique(-sure, return_inverse=True, return_counts=True)
    share = np.bincount(group, weights=wrong) / size  # of errors in each group of equal confidence
    answered = np.arange(1, n + 1)
    return RiskCoverage(answered / n, np.cumsum(np.repeat(share, size)) / answered)
