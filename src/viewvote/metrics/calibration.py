"""Whether confidence can be believed: reliability bins and the expected calibration error, both ways it is defined."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Bool, Float32, Float64, Int64
from ..errors import UsageError
from ..records.columns import Columns

BINS = 20
"""As in the paper's reliability diagrams (appendix on over-confidence)."""

ROUNDING = 1e-5
"""How far above 1 a sum of float32 probabilities may lie."""


@dataclass(frozen=True)
class Reliability:
    """Equal-width bins of confidence; accuracy and mean confidence are NaN where a bin is empty."""

    edges: Float32  # (bins + 1,)
    count: Int64  # (bins,)
    accuracy: Float64
    confidence: Float64

    @property
    def gap(self) -> Float64:
        """|acc(B_m) - conf(B_m)| of each bin, 0 where it is empty."""
        return np.nan_to_num(np.abs(self.accuracy - self.confidence))

    @property
    def ece(self) -> float:
        """The error as the field defines it (Guo et al.): sum over bins of n_m / n |acc(B_m) - conf(B_m)|."""
        total = self.count.sum()
        return float((self.count * self.gap).sum() / total) if total else float("nan")

    @property
    def ece_paper(self) -> float:
        """The error as the paper prints it (appendix on over-confidence): 1/M sum over M bins |acc(B_m) - conf(B_m)|.

        Bins count the same however few samples they hold; M counts empty bins, which add nothing.
        """
        return float(self.gap.mean()) if self.count.sum() else float("nan")


def reliability(confidence: ArrayLike, correct: ArrayLike, *, bins: int = BINS) -> Reliability:
    """The bins [0, 1/M), [1/M, 2/M), ..., [(M-1)/M, 1] of confidences in [0, 1]: a confidence of 1 is in the last."""
    if bins < 1:
        raise UsageError(f"bins must be at least 1; got {bins}.")
    sure = np.asarray(confidence, dtype=np.float32)
    right = np.asarray(correct, dtype=np.float64)
    if not ((sure >= 0) & (sure <= 1 + ROUNDING)).all():
        raise UsageError("confidences must be between 0 and 1; leave out the images that have none.")
    edges = (np.arange(bins + 1) / bins).astype(np.float32)  # float32 as the confidences: 0.35 is on its edge
    which = np.minimum(np.searchsorted(edges, sure, side="right") - 1, bins - 1)
    count = np.bincount(which, minlength=bins)
    with np.errstate(invalid="ignore"):
        accuracy = np.bincount(which, weights=right, minlength=bins) / count
        mean = np.bincount(which, weights=sure.astype(np.float64), minlength=bins) / count
    return Reliability(edges, count.astype(np.int64, copy=False), accuracy, mean)


def source_confidence(columns: Columns) -> tuple[Float32, Bool]:
    """Of every source view, the top probability and whether its class is the target: zero-shot (Sec. 3.1)."""
    usable = columns.usable & (columns.source_top[:, 0] >= 0)
    right = columns.source_top[usable, 0] == columns.target[usable]
    return columns.source_probability[usable], np.asarray(right)


def kept_confidence(columns: Columns) -> tuple[Float32, Bool]:
    """Of every kept view of every image, the same: the augmented and filtered dataset (Sec. 3.1)."""
    rows, views = np.nonzero(columns.kept)
    labels = np.where(columns.teacher_labels >= 0, columns.teacher_labels, columns.labels)
    return columns.top_probability[rows, views], np.asarray(labels[rows, views] == columns.target[rows])
