"""Fig. 1a: does p-bar over the images of a class err less often than the model does on them? With Condorcet's curve."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import exp, lgamma, log

import numpy as np
from numpy.typing import NDArray

Float64 = NDArray[np.float64]
Int64 = NDArray[np.int64]


def wrong_votes(error: float, voters: int, wrong: int) -> float:
    """The probability that exactly `wrong` of `voters` independent voters err (the paper's eq:majErr).

    P(k) = C(N, k) e^k (1 - e)^(N - k), from logarithms, so that it is finite for any N.
    """
    if error in (0.0, 1.0):
        return float(wrong == voters * error)
    choose = lgamma(voters + 1) - lgamma(wrong + 1) - lgamma(voters - wrong + 1)
    return exp(choose + wrong * log(error) + (voters - wrong) * log(1 - error))


def majority_error(error: float, voters: int) -> float:
    """The probability that a majority of `voters` independent voters errs (the paper's eq:cumMajErr).

    The sum of `wrong_votes` from floor(N / 2 + 1) on, so half of an even number of voters is no majority.
    """
    return min(1.0, sum(wrong_votes(error, voters, wrong) for wrong in range(voters // 2 + 1, voters + 1)))


def condorcet_curve(error: float, voters: Sequence[int]) -> Float64:
    """`majority_error` for each number of voters: falls towards 0 where error < 1/2 (Condorcet's jury theorem)."""
    return np.array([majority_error(error, each) for each in voters])


@dataclass(frozen=True)
class ClassErrors:
    """Per class that has images: its label, how many, the model's error on them, and whether p-bar over them errs."""

    label: Int64
    images: Int64
    expected: Float64
    marginal: Float64  # 0 or 1

    @property
    def majority(self) -> Float64:
        """What eq:cumMajErr gives for as many independent images with the class's expected error."""
        return np.array([majority_error(e, n) for e, n in zip(self.expected, self.images.tolist(), strict=True)])


def class_errors(probabilities: Iterable[NDArray[np.floating]], targets: Iterable[int]) -> ClassErrors:
    """The errors of each class from one distribution (classes,) per image, of its source view.

    p-bar of a class is the mean of its images' distributions; it errs where its argmax is another class.
    """
    sums: dict[int, Float64] = {}
    counts: dict[int, list[int]] = {}
    for row, target in zip(probabilities, targets, strict=True):
        values = np.asarray(row, dtype=np.float64)
        sums[target] = sums[target] + values if target in sums else values
        of_class = counts.setdefault(target, [0, 0])
        of_class[0] += 1
        of_class[1] += int(values.argmax()) != target
    labels = sorted(sums)
    return ClassErrors(
        label=np.array(labels, dtype=np.int64),
        images=np.array([counts[c][0] for c in labels], dtype=np.int64),
        expected=np.array([counts[c][1] / counts[c][0] for c in labels]),
        marginal=np.array([float(sums[c].argmax() != c) for c in labels]),
    )
