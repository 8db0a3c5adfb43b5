"""App. D: the risk of p-bar is at most the mean risk of the views, for squared error and for any norm."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Float64 = NDArray[np.float64]
LOSSES = ("squared", "euclidean", "absolute")


@dataclass(frozen=True)
class Risks:
    """The risk of p-bar and the mean risk of the views it averages, of one image, for each of LOSSES."""

    marginal: dict[str, float]
    views: dict[str, float]


def loss(name: str, target: NDArray[np.floating], square: NDArray[np.floating]) -> Float64:
    """The loss of distributions against the one-hot label, from p_y and ||p||^2 alone.

    squared    ||y - p||^2 = 1 - 2 p_y + ||p||^2
    euclidean  its root, a norm
    absolute   ||y - p||_1 = 2 (1 - p_y): linear in p, so p-bar's risk equals the views' mean to rounding
    """
    target, square = np.asarray(target, dtype=np.float64), np.asarray(square, dtype=np.float64)
    if name == "absolute":
        return np.asarray(2 * (1 - target))
    squared = np.maximum(1 - 2 * target + square, 0.0)
    return squared if name == "squared" else np.sqrt(squared)


def image_risks(
    p_bar: NDArray[np.floating],
    target: int,
    *,
    view_target: NDArray[np.floating],
    view_square: NDArray[np.floating],
) -> Risks:
    """The risks of one image: p-bar (classes,), and of each view the target's probability and the squared norm."""
    mean = np.asarray(p_bar, dtype=np.float64)
    at, square = np.array(mean[target]), np.array((mean**2).sum())
    return Risks(
        marginal={name: float(loss(name, at, square)) for name in LOSSES},
        views={name: float(loss(name, view_target, view_square).mean()) for name in LOSSES},
    )
