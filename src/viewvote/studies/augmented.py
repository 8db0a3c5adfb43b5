"""The augmented dataset of Sec. 3.1: the views of every image that a confidence filter keeps, as samples."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import UsageError
from ..metrics.calibration import Reliability, ece_interval, reliability, source_confidence
from ..metrics.means import Mean, mean_of, share_of
from ..rates import Rate, rate_of
from ..records.columns import Columns
from ..runs.read import Run
from ..vote import count_kept, rank_by_confidence


@dataclass(frozen=True)
class Augmented:
    """One run's images and their kept views: accuracy and calibration of both.

    The kept views of one image are not independent, so the interval of their accuracy is over images.
    """

    source: Rate
    kept: Mean
    gap: Mean  # source minus kept, in pairs
    kept_views: int
    source_bins: Reliability
    kept_bins: Reliability
    source_ece: tuple[float, float]  # intervals over images
    kept_ece: tuple[float, float]


def kept_views(columns: Columns, keep: float, *, of: str = "these records") -> NDArray[np.int64]:
    """The indices (records, kept) of each record's most confident views, most confident first; all are usable."""
    if (columns.teacher_labels >= 0).any():
        raise UsageError(f"{of} are of a cascade, whose views are judged by two models; take a single model's.")
    views = columns.labels.shape[1]
    if views < 2 or (columns.views_used != views).any():
        raise UsageError(
            f"{of} do not hold the same views of every image (one view, or a run that stopped early); take a run such "
            "as `viewvote eval ... --method zero --views 64`."
        )
    return rank_by_confidence(columns.entropy)[:, : count_kept(views, keep)]


def augmented(columns: Columns, *, keep: float, bins: int, of: str = "these records") -> Augmented:
    """Source and kept views of the usable records, at any share of kept views; `of` names them in errors."""
    usable = columns.take(columns.usable & (columns.source_top[:, 0] >= 0))
    if not len(usable):
        raise UsageError(f"{of} hold no image that could be used.")
    rows = kept_views(usable, keep, of=of)
    right = np.take_along_axis(usable.labels, rows, axis=1) == usable.target[:, None]
    sure = np.take_along_axis(usable.top_probability, rows, axis=1)
    confidence, correct = source_confidence(usable)
    return Augmented(
        source=rate_of(correct, np.ones(len(correct), dtype=np.bool_)),
        kept=share_of(right.mean(axis=1)),
        gap=mean_of(correct - right.mean(axis=1)),
        kept_views=int(right.size),
        source_bins=reliability(confidence, correct, bins=bins),
        kept_bins=reliability(sure.ravel(), right.ravel(), bins=bins),
        source_ece=ece_interval(confidence[:, None], correct[:, None], bins=bins, rng=np.random.default_rng(0)),
        kept_ece=ece_interval(sure, right, bins=bins, rng=np.random.default_rng(0)),
    )


def augmented_run(run: Run, *, keep: float, bins: int) -> Augmented:
    """`augmented` of a run's records."""
    return augmented(run.columns(views=True), keep=keep, bins=bins, of=f"the records of {run.path}")
