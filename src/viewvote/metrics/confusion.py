"""What is taken for what: accuracy per class, the confusion matrix, and the pairs that are confused most."""

from dataclasses import dataclass

import numpy as np

from ..arrays import Int64
from ..errors import RecordError
from ..rates import Rate, rate_of
from ..records.columns import Columns


@dataclass(frozen=True)
class Confused:
    """Images of class `target` that were called `index`: how many, and their share of that class's usable images."""

    target: int
    index: int
    count: int
    share: float


def confusion_matrix(columns: Columns, *, n_classes: int | None = None) -> Int64:
    """Counts (classes, classes) of usable images: rows are what they show, columns what they were called."""
    target, index = columns.target[columns.usable], columns.index[columns.usable]
    needed = 1 + int(max(columns.target.max(initial=0), index.max(initial=0)))
    size = n_classes or needed
    if needed > size:
        raise RecordError(f"a record names class {needed - 1}, but there are {size} classes. Was its file edited?")
    cells = np.bincount(target * size + index, minlength=size * size)
    return cells.reshape(size, size)


def class_rates(columns: Columns) -> dict[int, Rate]:
    """The accuracy of every class that has an image, with Wilson's interval, in the order of the labels."""
    return {
        int(label): rate_of(columns.correct[of_class], columns.usable[of_class])
        for label in np.unique(columns.target)
        if (of_class := columns.target == label).any()
    }


def most_confused(matrix: Int64, *, most: int = 10) -> list[Confused]:
    """The pairs off the diagonal with the most images, then the largest share of their class, then label order."""
    wrong = matrix.copy()
    np.fill_diagonal(wrong, 0)
    totals = matrix.sum(axis=1)
    pairs = [
        Confused(int(t), int(i), int(wrong[t, i]), float(wrong[t, i] / totals[t])) for t, i in np.argwhere(wrong > 0)
    ]
    return sorted(pairs, key=lambda pair: (-pair.count, -pair.share, pair.target, pair.index))[:most]
