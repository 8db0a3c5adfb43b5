"""What a study is asked and what it returns: rows of numbers, how to print them, what to know, and how to draw them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ..errors import UsageError
from ..metrics.means import Mean
from ..rates import Rate
from ..report.grouping import group_runs
from ..runs.read import Run

Style = Literal["text", "count", "percent", "points", "number", "seconds"]
"""percent: a share as 12.34; points: a difference of shares as +1.23; number: three decimals."""


@dataclass(frozen=True)
class Options:
    """What may be asked of studies; each takes what it needs.

    keep     the share of views in the augmented dataset; the paper's is TPT's 0.1
    bins     of confidence, overlap or entropy; None is the study's own
    by       "entropy", "class": a finer table where the study has one
    images   how many images to show or to measure
    seed     of resampled intervals
    """

    keep: float = 0.1
    bins: int | None = None
    by: str | None = None
    images: int = 3
    seed: int = 0


@dataclass(frozen=True)
class Column:
    """A printed column: the rows' `key`; `low` and `high` name the ends of its 95% interval, `std` its deviation."""

    key: str
    heading: str
    style: Style = "text"
    low: str | None = None
    high: str | None = None
    std: str | None = None


@dataclass(frozen=True)
class Finding:
    """The answer of a study. `rows` hold plain values (shares, not percent); NaN or None is a dash."""

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[Mapping[str, Any], ...]
    notes: tuple[str, ...] = ()
    draw: Callable[[Any], None] | None = None  # on a matplotlib Figure
    size: tuple[float, float] = (6.4, 3.6)  # of that figure, in inches


@dataclass(frozen=True)
class Group:
    """The runs of one method and model on one dataset that differ by seed only."""

    runs: tuple[Run, ...]

    @property
    def names(self) -> dict[str, str]:
        """Dataset, model, method and split, for a row."""
        first = self.runs[0]
        return {"dataset": first.dataset, "model": first.model, "method": first.title, "split": first.split}


def cells(key: str, value: float, interval: Rate | Mean, std: float | None = None) -> dict[str, float]:
    """The numbers of a row for a `Column` of this key: the value, the ends of its interval, and its deviation."""
    found = {key: value, f"{key}_low": interval.low, f"{key}_high": interval.high}
    return found if std is None else found | {f"{key}_std": std}


def of_views(runs: Sequence[Run], *, detail: bool = False) -> list[Run]:
    """The runs whose views a study reads: with detail where some have it, of zero where a dataset and model have one.

    The other methods of a pass look at the same views and would repeat its rows.
    """
    begun = [run for run in runs if run.n]
    found = [run for run in begun if run.spec.detail or not detail] or begun
    voted = {(run.dataset, run.model) for run in found if run.method == "zero"}
    return [run for run in found if run.method == "zero" or (run.dataset, run.model) not in voted]


def groups(runs: Sequence[Run]) -> list[Group]:
    """The runs that have records, by method, model and dataset; the order is that of the runs."""
    begun = [run for run in runs if run.n]
    if not begun:
        raise UsageError("none of the runs has a record yet; `viewvote eval` continues them.")
    return [Group(tuple(cell)) for row in group_runs(begun).rows for cell in row.values()]


NAMES = (Column("dataset", "dataset"), Column("model", "model"), Column("method", "method"))
COUNTS = (Column("n", "n", "count"), Column("seeds", "seeds", "count"), Column("split", "samples"))
"""The columns that every table begins and ends with."""
