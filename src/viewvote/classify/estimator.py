"""The shapes of scikit-learn: labels, probabilities and accuracy of many images at once."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Float32
from ..errors import UsageError
from ..images.photo import ImageSource
from ..prediction import Prediction
from ..views.sample import Keyed
from .features import Features

Images = Iterable[ImageSource | Keyed] | Features


class Estimator(ABC):
    """What scikit-learn calls on a classifier that was fitted; where images are asked for, features will do."""

    @property
    @abstractmethod
    def choices(self) -> tuple[str, ...]:
        """Every answer there may be."""

    @abstractmethod
    def predictions(self, images: Images) -> Iterator[Prediction]:
        """The predictions for images, or for images that were encoded, in their order."""

    @property
    def classes_(self) -> NDArray[np.str_]:
        """The answers there may be, as scikit-learn names them."""
        return np.array(self.choices)

    def predict(self, images: Images) -> NDArray[Any]:
        """The label of each image, as scikit-learn returns them; None where the classifier abstained."""
        found = [prediction.label for prediction in self.predictions(images)]
        return np.array(found, dtype=object if None in found else None)

    def predict_proba(self, images: Images) -> Float32:
        """The probabilities (images, labels) in the order of `classes_`, calibrated.

        Each row sums to 1, except for zero-shot with a model that scores each label alone (SigLIP).
        """
        rows = [prediction.probabilities for prediction in self.predictions(images)]
        return np.stack(rows) if rows else np.zeros((0, len(self.choices)), dtype=np.float32)

    def score(self, images: Images, labels: Iterable[str]) -> float:
        """The share of images whose label is the one expected of them (`labels`, one for each), as scikit-learn has it.

        An image without a label, where the classifier abstained, is not right.
        """
        expected = _checked_truth(labels, known=self.choices)
        found = [prediction.label for prediction in self.predictions(images)]
        if len(found) != len(expected) or not found:
            raise UsageError(
                f"score needs an expected label for each image; got {len(found)} images, {len(expected)} labels."
            )
        return sum(label == other for label, other in zip(found, expected, strict=True)) / len(found)


def _checked_truth(labels: Iterable[str], *, known: Collection[str]) -> list[str]:
    """The expected labels, or UsageError for one that is never answered: its image would always count as wrong."""
    expected = [str(label) for label in labels]
    for i, label in enumerate(expected):
        if label not in known:
            raise UsageError(f"expected label {i} is {label!r}, which the classifier cannot answer.")
    return expected
