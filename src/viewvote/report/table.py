"""The paper's tables with our runs in them: each cell with its interval, n, seeds, and the published number."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..datasets import CATALOG
from ..errors import UsageError
from ..metrics.accuracy import OverSeeds, macro_accuracy, over_seeds, pooled, top1, top5
from ..metrics.cost import cost_of
from ..rates import Rate, Z
from ..runs.read import FULL_SPLIT, Run
from .derived import DerivedRun
from .grouping import group_runs, shared_model
from .layouts import Layout
from .published import Match, match, verdict

DRAWS = 10_000
NAN = float("nan")
USES_OTHERS = "†"
"""Marks a row whose answers depend on the test set's other images."""


@dataclass(frozen=True)
class Cell:
    """One model and method on one dataset, over its seeds; `published` in percent, `verdict` in words."""

    rate: Rate
    seeds: OverSeeds
    top5: Rate
    macro: Rate
    split: str
    published: float | None
    published_std: float | None
    verdict: str
    seconds_per_image: float | None
    peak_memory_mb: float | None


@dataclass(frozen=True)
class Average:
    """A mean or median over datasets with its 95% interval; None where a dataset is missing."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Row:
    """One model and method over the datasets."""

    title: str
    model: str
    cells: Mapping[str, Cell]
    averages: Mapping[str, Average | None]
    match: Match | None
    published_averages: Mapping[str, float | None]


@dataclass(frozen=True)
class Table:
    """What a report shows, whatever format it is written in; `heads` are what its columns call the datasets."""

    layout: str
    datasets: tuple[str, ...]
    averages: tuple[str, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...]
    heads: tuple[str, ...]


def build_table(runs: Sequence[Run], *, layout: Layout) -> Table:
    """The table of these runs; those that it does not show are named in the notes."""
    started = [run for run in runs if run.n]
    if not started:
        raise UsageError("none of the runs has a record yet; `viewvote eval` continues them.")
    datasets = layout.datasets or tuple(dict.fromkeys(run.dataset for run in started))
    shown = [run for run in started if run.dataset in datasets]
    if not shown:
        raise UsageError(
            f"none of the {len(runs)} runs is on a dataset of layout {layout.name!r}; --layout free shows any."
        )
    groups = group_runs(shown)
    over = _averages(layout, datasets)
    rows = tuple(_row(group, layout, over) for group in groups.rows)
    notes = (*_notes(rows), *_left_out(runs, trials=groups.trials, datasets=datasets))
    return Table(layout.name, datasets, tuple(over), rows, notes, heads=_heads(layout, datasets))


_Over = Mapping[str, tuple[tuple[str, ...], Callable[..., np.float64]]]


def _averages(layout: Layout, datasets: tuple[str, ...]) -> _Over:
    """The averages of a layout: over which datasets, and how; one dataset has none."""
    sets = {average.name: average.datasets or datasets for average in layout.averages}
    how = {average.name: np.median if average.how == "median" else np.mean for average in layout.averages}
    return {name: (over, how[name]) for name, over in sets.items() if len(over) > 1}


def _heads(layout: Layout, datasets: tuple[str, ...]) -> tuple[str, ...]:
    """The datasets' column heads: as the paper abbreviates them where the layout names its datasets."""
    known = CATALOG if layout.datasets else {}
    return tuple(known[name].column if name in known else name for name in datasets)


def _row(by_dataset: Mapping[str, Sequence[Run]], layout: Layout, over: _Over) -> Row:
    first = next(iter(by_dataset.values()))[0]
    found = match(first, layout=layout)
    cells = {dataset: _cell(group, found) for dataset, group in by_dataset.items()}
    values = found.row.values if found else {}
    return Row(
        title=first.title + (f" {USES_OTHERS}" if first.uses_others else ""),
        model=_model(by_dataset),
        cells=cells,
        averages={name: _average(cells, sets, how) for name, (sets, how) in over.items()},
        match=found,
        published_averages={
            name: float(how([values[d] for d in sets])) if all(d in values for d in sets) else None
            for name, (sets, how) in over.items()
        },
    )


def _model(by_dataset: Mapping[str, Sequence[Run]]) -> str:
    """The model of a row; "maple:*@..." where several weight files stand in it as seeds."""
    models = {run.model for runs in by_dataset.values() for run in runs}
    return models.pop() if len(models) == 1 else shared_model(next(iter(by_dataset.values()))[0])


def _cell(runs: Sequence[Run], found: Match | None) -> Cell:
    columns = [run.columns() for run in runs]
    rates = [top1(one) for one in columns]
    rate = pooled(rates)
    splits = {run.split for run in runs}
    split = splits.pop() if len(splits) == 1 else "subset"
    full = split == FULL_SPLIT
    published = found.row.values.get(runs[0].dataset) if found else None
    costs = [cost.mean["total"] for one in columns if (cost := cost_of(one))]
    memory = [float(m) for run in runs if (m := run.peak_memory_mb)]
    return Cell(
        rate=rate,
        seeds=over_seeds([one.value for one in rates]),
        top5=pooled([top5(one) for one in columns] if _know_top5(runs) else [Rate(NAN, NAN, NAN, rate.n, rate.errors)]),
        macro=pooled([macro_accuracy(one.target, one.correct, one.usable) for one in columns]),
        split=split,
        published=published,
        published_std=found.row.std.get(runs[0].dataset) if found else None,
        verdict=verdict([100 * one.value for one in rates if one.n], found, dataset=runs[0].dataset, full=full),
        seconds_per_image=float(np.mean(costs)) if costs else None,
        peak_memory_mb=max(memory, default=None),
    )


def _know_top5(runs: Sequence[Run]) -> bool:
    return all(not isinstance(run, DerivedRun) or run.knows_top5 for run in runs)


def _average(cells: Mapping[str, Cell], sets: Sequence[str], how: Callable[..., np.float64]) -> Average | None:
    """The average over sets, with the interval that the sets' own intervals, taken as normal, give it."""
    if any(name not in cells or not cells[name].rate.n for name in sets):
        return None
    rates = [cells[name].rate for name in sets]
    values = np.array([rate.value for rate in rates])
    sigma = np.array([(rate.high - rate.low) / (2 * Z) for rate in rates])
    draws = how(values + sigma * np.random.default_rng(0).normal(size=(DRAWS, len(values))), axis=1)
    low, high = np.quantile(draws, [0.025, 0.975])
    return Average(float(how(values)), float(low), float(high))


def _notes(rows: Sequence[Row]) -> tuple[str, ...]:
    notes = [
        "Top-1 accuracy in %; ± is the standard deviation over seeds; [ ] is the 95% interval from the choice of "
        "images (Wilson); n counts the images with an answer. Only whole official splits are called full."
    ]
    notes += [
        f"{row.title}, {row.model}: the published numbers beside it ({row.match.title}) are of another "
        f"experiment; different here: {'; '.join(row.match.differences)}."
        for row in rows
        if row.match and row.match.differences
    ]
    if any(row.title.endswith(USES_OTHERS) for row in rows):
        notes.append(
            f"{USES_OTHERS} uses the test set's other images: those before in its order. Rows without the mark answer "
            "each image alone; the two kinds are not to be averaged or ranked together."
        )
    if any(cell.rate.errors for row in rows for cell in row.cells.values()):
        notes.append("Unusable images (unreadable files) are counted beside n and are not in the rate.")
    return tuple(notes)


def _left_out(runs: Sequence[Run], *, trials: Sequence[Run], datasets: Sequence[str]) -> Iterator[str]:
    """Notes on the runs that the table does not show."""
    if trials:
        named = ", ".join(f"{run.path.name} ({run.n})" for run in trials)
        yield f"Of a cell's runs those over the most samples are shown; left out: {named}."
    if elsewhere := sorted({run.dataset for run in runs if run.n and run.dataset not in datasets}):
        yield f"Not in this layout: {', '.join(elsewhere)}."
    if empty := [run.path.name for run in runs if not run.n]:
        yield f"Without a record, so left out: {', '.join(empty)}."
