"""App. D: the risk of p-bar is at most the mean risk of the views, for squared error and for any norm."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..metrics.accuracy import over_seeds
from ..metrics.means import mean_of, pooled_means
from ..pictures.plots import bars_side_by_side
from ..records.detail import read_details
from ..runs.read import Run
from .base import COUNTS, NAMES, Column, Finding, Group, Options, groups, of_views

Float64 = NDArray[np.float64]
LOSSES = ("squared", "euclidean", "absolute")
ROUNDING = 1e-6
"""Probabilities are recorded in float32: squared and absolute losses are off by less than this."""


@dataclass(frozen=True)
class Risks:
    """The risk of p-bar and the mean risk of the views it averages, of one image, for each of LOSSES.

    bounded    whether p-bar's is no larger, as far as what was recorded can show it
    """

    marginal: dict[str, float]
    views: dict[str, float]
    bounded: dict[str, bool]


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
    ours = {name: loss(name, at, square) for name in LOSSES}
    theirs = {name: loss(name, view_target, view_square) for name in LOSSES}
    return Risks(
        marginal={name: float(ours[name]) for name in LOSSES},
        views={name: float(theirs[name].mean()) for name in LOSSES},
        bounded={name: _bounded(name, ours[name], theirs[name]) for name in LOSSES},
    )


def _bounded(name: str, marginal: Float64, views: Float64) -> bool:
    """Whether the risk of p-bar is at most the views' mean, with ROUNDING on both; under a root it grows near zero."""
    if name == "euclidean":
        least = np.sqrt(np.maximum(marginal**2 - ROUNDING, 0))
        return bool(least <= np.sqrt(views**2 + ROUNDING).mean())
    return bool(marginal <= views.mean() + ROUNDING)


COLUMNS = (
    *NAMES,
    Column("over", "p-bar over"),
    Column("loss", "loss"),
    Column("marginal", "risk of p-bar", "number", "marginal_low", "marginal_high"),
    Column("views", "mean risk of the views", "number", "views_low", "views_high", "views_std"),
    Column("holds", "images where it is no larger", "percent"),
    *COUNTS,
)


def study(runs: Sequence[Run], options: Options) -> Finding:
    """The risk of p-bar and the mean risk of the views, over all views and over the kept ones."""
    del options
    rows = tuple(row for group in groups(of_views(runs, detail=True)) for row in _rows(group))
    return Finding(
        name="risk",
        title="Risk of p-bar and mean risk of the views",
        columns=COLUMNS,
        rows=rows,
        notes=(
            "Means over images with 95% intervals. squared: ||y - p||^2; euclidean: its root; absolute: ||y - p||_1, "
            "which is linear in p, so that both risks are the same number (App. D's bound holds with equality).",
        ),
        draw=lambda figure: _draw(figure, rows),
        size=(6.6, 3.2),
    )


def _rows(group: Group) -> list[dict[str, Any]]:
    seeds = [_of_run(run) for run in group.runs]
    rows = []
    for over, name in product(("all views", "kept views"), LOSSES):
        pairs = [np.array([(r.marginal[name], r.views[name]) for r in seed[over]]) for seed in seeds]
        marginal, views = (pooled_means([mean_of(p[:, column]) for p in pairs]) for column in (0, 1))
        rows.append(
            {
                **group.names,
                "over": over,
                "loss": name,
                "marginal": marginal.value,
                "marginal_low": marginal.low,
                "marginal_high": marginal.high,
                "views": views.value,
                "views_low": views.low,
                "views_high": views.high,
                "views_std": over_seeds([float(p[:, 1].mean()) for p in pairs]).std,
                "holds": float(np.mean([[r.bounded[name] for r in seed[over]] for seed in seeds])),
                "n": marginal.n,
                "seeds": len(seeds),
            }
        )
    return rows


def _of_run(run: Run) -> dict[str, list[Risks]]:
    found: dict[str, list[Risks]] = {"all views": [], "kept views": []}
    for one in read_details(run.records, ["kept", "every", "target", "square"]):
        kept, a = list(one.kept), one.arrays
        every = image_risks(a["every"], one.target, view_target=a["target"], view_square=a["square"])
        some = image_risks(a["kept"], one.target, view_target=a["target"][kept], view_square=a["square"][kept])
        found["all views"].append(every)
        found["kept views"].append(some)
    return found


def _draw(figure: Any, rows: Sequence[Mapping[str, Any]]) -> None:
    """The squared risks of each dataset, over all views and over the kept ones."""
    for axis, over in zip(figure.subplots(1, 2, sharey=True), ("all views", "kept views"), strict=True):
        shown = [row for row in rows if (row["over"], row["loss"]) == (over, "squared")]
        series = {"p-bar": [row["marginal"] for row in shown], "mean of the views": [row["views"] for row in shown]}
        ends = {
            "p-bar": [(row["marginal_low"], row["marginal_high"]) for row in shown],
            "mean of the views": [(row["views_low"], row["views_high"]) for row in shown],
        }
        names = [row["dataset"] for row in shown]
        bars_side_by_side(axis, names, series, colours=("C1", "C0"), errors=ends)
        axis.set_xlabel(over)
        axis.set_ylabel("squared risk")
        axis.label_outer()
