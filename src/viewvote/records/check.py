"""Whether columns hold what a run writes: numbers that metrics index, count and average by."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Bool, Float32, Float64, Int64
from .evidence import CLASSES, damaged

if TYPE_CHECKING:
    from .columns import Columns

ROUNDING = 1e-3
"""Sums of float32 probabilities may pass 1 by less."""


def check_columns(columns: "Columns", views: Int64) -> None:
    """Raise RecordError that names the first record which is not as runs write them; `views` is how many each holds."""
    for right, expected in _expectations(columns, views):
        if not right.all():
            raise damaged(columns.keys[int(np.flatnonzero(~right)[0])], expected)


def _expectations(columns: "Columns", views: Int64) -> Iterator[tuple[Bool, str]]:
    """For each thing expected: which records hold to it, and what it is."""
    usable, inside = columns.usable, np.arange(columns.labels.shape[1]) < views[:, None]
    yield _class(columns.target), f"a target that is a class, from 0 to below {CLASSES:,}"
    yield _class(columns.index) | (columns.index == -1), f"an index that is a class below {CLASSES:,}, or null"
    for name in ("top5", "source_top", "teacher_labels"):
        values = getattr(columns, name)
        yield (_class(values) | (values == -1)).all(axis=1), f"classes below {CLASSES:,} in {name}"
    yield (_class(columns.labels) == inside).all(axis=1), f"the views' labels to be classes below {CLASSES:,}"
    yield (np.isfinite(columns.entropy) == inside).all(axis=1), "one finite entropy for each view"
    yield (_share(columns.top_probability) == inside).all(axis=1), "one top_probability in [0, 1] for each view"
    yield np.asarray((columns.kept <= inside).all(axis=1)), "kept views to be among its views"
    yield ((columns.teacher_labels == -1) | inside).all(axis=1), "no more teacher_labels than views"
    fitting: Bool = (columns.views_used >= 0) & ((columns.views_used <= views) | (views == 0))
    yield fitting, "views_used to be no more than its views"
    yield _share(columns.confidence) | ~usable, "a confidence in [0, 1] of an answer"
    yield _share(columns.probability) | ~usable, "a probability in [0, 1] of an answer"
    unknown = np.isnan(columns.source_probability)
    yield _share(columns.source_probability) | unknown, "a source_probability in [0, 1], or null"
    yield ((columns.tie_draw >= 0) & (columns.tie_draw < 1)) | np.isnan(columns.tie_draw), "a tie_draw in [0, 1)"


def _class(values: Int64) -> Bool:
    return np.asarray((values >= 0) & (values < CLASSES))


def _share(values: Float32 | Float64) -> Bool:
    return np.asarray((values >= 0) & (values <= 1 + ROUNDING))
