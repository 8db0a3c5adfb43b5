"""The augmented dataset of Sec. 3.1: the views of every image that a confidence filter keeps, as samples."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import UsageError
from ..metrics.calibration import Reliability, reliability, source_confidence
from ..metrics.means import Mean, share_of
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
    kept_views: int
    source_bins: Reliability
    kept_bins: Reliability


def kept_views(columns: Columns, keep: float) -> NDArray[np.int64]:
    """The indices (records, kept) of each record's most confident views, most confident first; all are usable."""
    if (columns.teacher_labels >= 0).any():
        raise UsageError("these records are of a cascade, whose views are judged by two models; take a single model's.")
    views = columns.labels.shape[1]
    if views < 2 or (columns.views_used != views).any():
        raise UsageError(
            "these records do not hold the same views of every image (one view, or a run that stopped early); "
            "take a run such as `viewvote eval ... --method zero --views 64`."
        )
    return rank_by_confidence(columns.entropy)[:, : count_kept(views, keep)]


def augmented(columns: Columns, *, keep: float, bins: int) -> Augmented:
    """Source and kept views of the usable records, at any share of kept views."""
    usable = columns.take(columns.usable)
    rows = kept_views(usable, keep)
    right = np.take_along_axis(usable.labels, rows, axis=1) == usable.target[:, None]
    sure = np.take_along_axis(usable.top_probability, rows, axis=1)
    confidence, correct = source_confidence(usable)
    return Augmented(
        source=rate_of(correct, np.ones(len(correct), dtype=np.bool_)),
        kept=share_of(right.mean(axis=1)),
        kept_views=int(right.size),
        source_bins=reliability(confidence, correct, bins=bins),
        kept_bins=reliability(sure.ravel(), right.ravel(), bins=bins),
    )


def augmented_run(run: Run, *, keep: float, bins: int) -> Augmented:
    """`augmented` of a run's records."""
    return augmented(run.columns(views=True), keep=keep, bins=bins)
