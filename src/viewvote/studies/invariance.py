"""App. A: how often minimising the entropy of p-bar leaves its argmax as it was, over all samples and by entropy."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Float64 = NDArray[np.float64]
Bool = NDArray[np.bool_]
DECILES = 10


@dataclass(frozen=True)
class Step:
    """What tuning did to p-bar of one image: same argmax, a larger probability of it, and the entropy before."""

    same: bool
    rose: bool
    entropy: float


def step_of(before: NDArray[np.floating], after: NDArray[np.floating]) -> Step:
    """The step from p-bar (classes,) before tuning to the one after.

    Proposition 2.1 asks that p-bar(c) exceeds the mean of delta g, which is p-bar(c) before minus p-bar(c) after: the
    condition is that p-bar(c) after is above 0. `rose` is the hypothesis it was drawn from (Sec. 2.2).
    """
    first, last = np.asarray(before, dtype=np.float64), np.asarray(after, dtype=np.float64)
    best = int(first.argmax())
    some = first[first > 0]
    return Step(int(last.argmax()) == best, bool(last[best] > first[best]), float(-(some * np.log(some)).sum()))


def by_entropy(entropy: Float64, same: Bool, *, bins: int = DECILES) -> list[Bool]:
    """`same` in `bins` parts of nearly equal size, from the images with the most entropy to those with the least."""
    order = np.argsort(-entropy, kind="stable")
    return [same[part] for part in np.array_split(order, bins)]
