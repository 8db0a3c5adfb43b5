"""App. H: are views independent voters? Agreement and error correlation of pairs of views against their overlap."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Float64 = NDArray[np.float64]
Int64 = NDArray[np.int64]
Bool = NDArray[np.bool_]


def overlaps(boxes: NDArray[np.floating]) -> Float64:
    """Intersection over union (views, views) of boxes (views, 4), each left, top, right, bottom."""
    b = np.asarray(boxes, dtype=np.float64)
    width = np.minimum(b[:, None, 2], b[None, :, 2]) - np.maximum(b[:, None, 0], b[None, :, 0])
    height = np.minimum(b[:, None, 3], b[None, :, 3]) - np.maximum(b[:, None, 1], b[None, :, 1])
    common = np.maximum(width, 0) * np.maximum(height, 0)
    area = (b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1])
    return np.asarray(common / (area[:, None] + area[None, :] - common))


@dataclass(frozen=True)
class PairCounts:
    """Counts of unordered pairs of views in each bin of overlap; add those of images up for those of a dataset."""

    pairs: Float64  # (bins,)
    agree: Float64
    both_wrong: Float64
    one_wrong: Float64
    overlap: Float64  # summed

    @property
    def stacked(self) -> Float64:
        """The counts as rows (5, bins)."""
        return np.stack([self.pairs, self.agree, self.both_wrong, self.one_wrong, self.overlap])


def pair_counts(labels: Int64, target: int, boxes: NDArray[np.floating], *, bins: int) -> PairCounts:
    """The pairs of one image's views (views,) by overlap; bins are equally wide from 0 to 1."""
    first, second = np.triu_indices(len(labels), k=1)
    overlap = overlaps(boxes)[first, second]
    which = np.minimum((overlap * bins).astype(np.int64), bins - 1)
    wrong = labels != target

    def count(weights: NDArray[np.generic]) -> Float64:
        return np.asarray(np.bincount(which, weights=weights.astype(np.float64), minlength=bins), dtype=np.float64)

    return PairCounts(
        pairs=count(np.ones(len(which))),
        agree=count(labels[first] == labels[second]),
        both_wrong=count(wrong[first] & wrong[second]),
        one_wrong=count(wrong[first] ^ wrong[second]),
        overlap=count(overlap),
    )


def error_correlation(pairs: Float64, both_wrong: Float64, one_wrong: Float64) -> Float64:
    """Pearson's correlation of "is wrong" over pairs, each counted in both orders; NaN where all or none are wrong.

    With e = (both + one / 2) / pairs the error rate of a member of a pair: (both / pairs - e^2) / (e - e^2).
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        both = both_wrong / pairs
        error = both + one_wrong / pairs / 2
        spread = error - error**2
        return np.asarray(np.where(spread > 1e-12, (both - error**2) / spread, np.nan))


def effective_voters(voters: int, correlation: float) -> float:
    """How many independent voters have the same variance of their mean: N / (1 + (N - 1) rho)."""
    return voters / (1 + (voters - 1) * max(correlation, 0.0))


def resampled(counts: Float64, *, rng: np.random.Generator, resamples: int) -> Float64:
    """Sums (resamples, ...) of per-image counts (images, ...) over images drawn again with replacement."""
    n = len(counts)
    weights = rng.multinomial(n, np.full(n, 1 / n), size=resamples).astype(np.float64)
    return np.asarray(np.tensordot(weights, counts, axes=1))
