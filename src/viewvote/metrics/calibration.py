"""Whether confidence can be believed: reliability bins and the expected calibration error, both ways it is defined."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import Bool, Float32, Float64, Int64
from ..errors import UsageError
from ..records.columns import Columns
from .resample import resampled

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


def bin_edges(bins: int) -> Float32:
    """The ends of equally wide bins, in float32 as confidences are: 0.35 is on its edge."""
    return (np.arange(bins + 1) / bins).astype(np.float32)


def reliability_bins(confidence: NDArray[np.floating], *, bins: int) -> Int64:
    """Which bin each confidence is in; 1 is in the last."""
    sure = confidence.astype(np.float32, copy=False)
    return np.minimum(np.searchsorted(bin_edges(bins), sure, side="right") - 1, bins - 1)


def reliability(confidence: ArrayLike, correct: ArrayLike, *, bins: int = BINS) -> Reliability:
    """The bins [0, 1/M), [1/M, 2/M), ..., [(M-1)/M, 1] of confidences in [0, 1]: a confidence of 1 is in the last."""
    if bins < 1:
        raise UsageError(f"bins must be at least 1; got {bins}.")
    sure = np.asarray(confidence, dtype=np.float32)
    right = np.asarray(correct, dtype=np.float64)
    if not ((sure >= 0) & (sure <= 1 + ROUNDING)).all():
        raise UsageError("confidences must be between 0 and 1; leave out the images that have none.")
    edges, which = bin_edges(bins), reliability_bins(sure, bins=bins)
    count = np.bincount(which, minlength=bins)
    with np.errstate(invalid="ignore"):
        accuracy = np.bincount(which, weights=right, minlength=bins) / count
        mean = np.bincount(which, weights=sure.astype(np.float64), minlength=bins) / count
    return Reliability(edges, count.astype(np.int64, copy=False), accuracy, mean)


def ece_interval(
    confidence: ArrayLike, correct: ArrayLike, *, bins: int, rng: np.random.Generator
) -> tuple[float, float]:
    """The 95% interval of the ECE of (images, views), images drawn again; NaN for fewer than two.

    Few images make an ECE too large, and drawing them again makes it larger still: the spread of the draws about their
    own mean is put about what was measured.
    """
    sure, right = (np.atleast_2d(np.asarray(each, dtype=np.float64)) for each in (confidence, correct))
    images = len(sure)
    if images < 2:
        return float("nan"), float("nan")
    which = reliability_bins(sure, bins=bins)
    at = (np.arange(images)[:, None] * bins + which).ravel()
    summed = np.bincount(at, weights=(right - sure).ravel(), minlength=images * bins)
    gaps = np.asarray(summed, dtype=np.float64).reshape(images, bins)
    draws = np.abs(resampled(gaps, rng=rng)).sum(axis=1) / sure.size
    measured = np.abs(gaps.sum(axis=0)).sum() / sure.size
    low, high = np.clip(measured + np.quantile(draws, [0.025, 0.975]) - draws.mean(), 0, 1)
    return float(low), float(high)


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
