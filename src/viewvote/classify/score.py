"""Accuracy in scikit-learn's shape."""

from collections.abc import Collection, Iterable, Iterator

from ..errors import UsageError
from ..prediction import Prediction


def share_right(predictions: Iterator[Prediction], expected: Iterable[str], *, known: Collection[str]) -> float:
    """The share of predictions with the expected label; UsageError unless there is one of the known labels for each."""
    truth = [str(label) for label in expected]
    for i, label in enumerate(truth):
        if label not in known:
            raise UsageError(f"expected label {i} is {label!r}, which the classifier cannot answer.")
    found = [prediction.label for prediction in predictions]
    if len(found) != len(truth) or not found:
        raise UsageError(f"score needs an expected label for each image; got {len(found)} images, {len(truth)} labels.")
    return sum(label == other for label, other in zip(found, truth, strict=True)) / len(found)
