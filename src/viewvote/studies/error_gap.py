"""App. G: what views lose against source images and what ZERO gains, over datasets, and how they go together."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..metrics.accuracy import over_seeds, pooled
from ..metrics.means import Mean, mean_of, pooled_means
from ..metrics.rescore import Setting, rescore
from ..pictures.plots import faint, legend_above, name_points
from ..rates import Rate, Z, rate_of
from ..report.rescored import recorded_views
from ..runs.read import Run
from .augmented import augmented_run
from .base import COUNTS, NAMES, Column, Finding, Group, Options, cells, groups, of_views

Float64 = NDArray[np.float64]
PUBLISHED = -0.95
FROM_TABLE = -0.90
"""Of the gaps and improvements that the paper prints (tests/studies/test_error_gap.py)."""


def ranks(values: ArrayLike) -> Float64:
    """Ranks from 1; equal values share the mean of theirs."""
    found = np.asarray(values, dtype=np.float64)
    _, group, size = np.unique(found, return_inverse=True, return_counts=True)
    last = np.cumsum(size)
    return np.asarray((last - (size - 1) / 2)[group])


def spearman(first: ArrayLike, second: ArrayLike) -> float:
    """Spearman's coefficient: Pearson's of the ranks; NaN where one side is constant or there are fewer than two."""
    a, b = ranks(first), ranks(second)
    if len(a) < 2 or a.std() == 0 or b.std() == 0:
        return float("nan")
    return float(np.clip(np.mean((a - a.mean()) * (b - b.mean())) / (a.std() * b.std()), -1.0, 1.0))


def spearman_interval(coefficient: float, n: int) -> tuple[float, float]:
    """Its 95% interval by Fisher's z with the variance (1 + r^2 / 2) / (n - 3) (Bonett and Wright, 2000)."""
    if n < 4 or not abs(coefficient) < 1:
        return float("nan"), float("nan")
    half = Z * ((1 + coefficient**2 / 2) / (n - 3)) ** 0.5
    return float(np.tanh(np.arctanh(coefficient) - half)), float(np.tanh(np.arctanh(coefficient) + half))


COLUMNS = (
    *NAMES,
    Column("source", "zero-shot", "percent", "source_low", "source_high"),
    Column("augmented", "augmented", "percent", "augmented_low", "augmented_high", "augmented_std"),
    Column("zero", "ZERO", "percent", "zero_low", "zero_high", "zero_std"),
    Column("gap", "gap", "points", "gap_low", "gap_high", "gap_std"),
    Column("improvement", "improvement", "points", "improvement_low", "improvement_high", "improvement_std"),
    *COUNTS,
)


def study(runs: Sequence[Run], options: Options) -> Finding:
    """Gap and improvement of each dataset, and Spearman's coefficient over the datasets of each model."""
    rows = tuple(_row(group, options.keep) for group in groups(of_views(runs)))
    notes = [
        f"In % with 95% intervals; the augmented dataset and ZERO keep {options.keep:.0%} of the views. Gap: zero-shot "
        "minus augmented; improvement: ZERO minus zero-shot, in points, both in pairs over the same images."
    ]
    for model, method in dict.fromkeys((row["model"], row["method"]) for row in rows):
        of_model = [row for row in rows if (row["model"], row["method"]) == (model, method)]
        found = spearman([row["gap"] for row in of_model], [row["improvement"] for row in of_model])
        low, high = spearman_interval(found, len(of_model))
        value = "not defined" if np.isnan(found) else f"{found:+.2f}"
        ends = "" if np.isnan(low) else f" [{low:+.2f}, {high:+.2f}] (95%, Fisher's z)"
        notes.append(
            f"{model}, {method}: Spearman's coefficient over {_datasets(len(of_model))} is {value}{ends}. The paper's "
            f"text has {PUBLISHED} over nine; its printed table gives {FROM_TABLE:.2f}."
        )
    return Finding(
        name="error-gap",
        title="Error gap of augmented views and improvement by ZERO",
        columns=COLUMNS,
        rows=rows,
        notes=tuple(notes),
        draw=lambda figure: _draw(figure, rows),
        size=(4.6, 3.6),
    )


def _datasets(n: int) -> str:
    return f"{n} dataset" if n == 1 else f"{n} datasets"


def _row(group: Group, keep: float) -> dict[str, Any]:
    seeds = [augmented_run(run, keep=keep, bins=1) for run in group.runs]
    votes, gains = zip(*(zero_vote(run, keep) for run in group.runs), strict=True)
    source = seeds[0].source
    kept, zero = over_seeds([one.kept.value for one in seeds]), over_seeds([rate.value for rate in votes])
    spread, vote = pooled_means([one.kept for one in seeds]), pooled(votes)
    gap, gain = pooled_means([one.gap for one in seeds]), pooled_means(gains)
    return {
        **group.names,
        "keep": keep,
        **cells("source", source.value, source),
        **cells("augmented", kept.mean, spread, kept.std),
        **cells("zero", zero.mean, vote, zero.std),
        **cells("gap", gap.value, gap, kept.std),
        **cells("improvement", gain.value, gain, zero.std),
        "n": source.n,
        "seeds": len(seeds),
    }


def zero_vote(run: Run, keep: float) -> tuple[Rate, Mean]:
    """The accuracy of the vote of a share of a run's views, and what it gains over the source view, in pairs."""
    plain, voted = rescore(run.records, [None, Setting(recorded_views(run), keep)])
    gained = voted.correct.astype(float) - plain.correct
    return rate_of(voted.correct, voted.usable), mean_of(gained[voted.usable])


def _draw(figure: Any, rows: Sequence[Mapping[str, Any]]) -> None:
    """Improvement over gap, one point per dataset with its intervals."""
    axis = figure.subplots()
    for i, model in enumerate(dict.fromkeys(row["model"] for row in rows)):
        shown = [row for row in rows if row["model"] == model]
        x, y = (np.array([100 * row[key] for row in shown]) for key in ("gap", "improvement"))
        ends = [
            np.abs([[100 * row[f"{key}_{end}"] - 100 * row[key] for row in shown] for end in ("low", "high")])
            for key in ("gap", "improvement")
        ]
        colour = f"C{i}"
        axis.errorbar(x, y, xerr=ends[0], yerr=ends[1], fmt="none", ecolor=colour, alpha=0.3, elinewidth=0.8)
        axis.plot(x, y, "o", color=colour, markersize=4, label=model)
    axis.axhline(0, color=faint(), linewidth=0.6)
    axis.axvline(0, color=faint(), linewidth=0.6)
    axis.set(xlabel="error gap [points]", ylabel="improvement by ZERO [points]")
    name_points(axis, [(100 * row["gap"], 100 * row["improvement"], row["dataset"]) for row in rows])
    legend_above(axis)
