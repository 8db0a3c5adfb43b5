"""The paper's own numbers, which of them a run may be held against, and what may be said beside them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from ..rates import Z
from ..runs.read import Run
from .experiments import CASCADE, L14, experiment_of, published_experiment
from .layouts import Layout
from .paper import PaperRow, paper_rows

KEEP = 0.3
SEEDS = 3
"""Of the paper's means (Sec. 4.1)."""

TOLERANCE = 0.1
"""Points that the authors call negligible between two runs of the same code (appendix on implementation details)."""


@dataclass(frozen=True)
class Match:
    """The published row nearest to a run, and what is different in the run; nothing: it is the same experiment."""

    row: PaperRow
    differences: tuple[str, ...]

    @property
    def title(self) -> str:
        """Row and model as the paper names them."""
        keep = f", keep {self.row.keep}" if self.row.method == "zero" and self.row.keep != KEEP else ""
        model = L14 if (self.row.model, self.row.method) == (CASCADE, "zero-shot") else self.row.model
        return f"{self.row.row}, {model}{keep}"

    @property
    def int8_tower(self) -> bool:
        """Whether nothing but the precision of the vision tower's weights is different."""
        return self.differences == ("the precision (int8 tower)",)


@cache
def published_rows(layout: Layout) -> tuple[PaperRow, ...]:
    """The rows of the paper's tables that a layout names; rivals in the tables for keep 0.1 are only repeated."""
    rows = [row for row in paper_rows() if row.table in layout.paper]
    return tuple(row for row in rows if row.method == "zero" or row.keep == KEEP)


def match(run: Run, *, layout: Layout) -> Match | None:
    """The published row with the run's method that differs least from it, or None where the paper has none."""
    ours = experiment_of(run.spec)
    found = [(row, published_experiment(row)) for row in published_rows(layout)]
    matches = [Match(row, theirs.differences(ours)) for row, theirs in found if theirs.method == ours.method]
    return min(matches, key=lambda one: len(one.differences), default=None)


def tolerance(values: Sequence[float], *, published_std: float | None, seeded: bool) -> float:
    """How many points our mean over seeds (percent) may lie from a published one for seeds to explain it.

    1.96 standard errors of the difference of two means, sqrt(s^2 / 3 + s'^2 / n), at least TOLERANCE. Where one of the
    deviations is not known the other stands in for it. Without seeds (zero-shot) it is TOLERANCE.
    """
    if not seeded:
        return TOLERANCE
    ours = float(np.std(values, ddof=1)) if len(values) > 1 else None
    theirs = published_std if published_std is not None else ours
    ours = theirs if ours is None else ours
    if ours is None or theirs is None:
        return TOLERANCE
    return max(TOLERANCE, Z * float(np.sqrt(theirs**2 / SEEDS + ours**2 / len(values))))


def verdict(values: Sequence[float], found: Match | None, *, dataset: str, full: bool) -> str:
    """What may be said beside the published number of a dataset, given our accuracy (percent) of each seed.

    "reproduced" needs the full split, the same experiment, and a difference that seeds explain.
    """
    published = found.row.values.get(dataset) if found else None
    if found is None or published is None or not values:
        return ""
    if found.differences and not found.int8_tower:
        return "another experiment"
    tower = "int8 tower" if found.int8_tower else ""
    if not full:
        return f"{tower}, subset".lstrip(", ")
    difference = float(np.mean(values)) - published
    seeded = found.row.method not in ("zero-shot", "ensemble")
    allowed = tolerance(values, published_std=found.row.std.get(dataset), seeded=seeded)
    if tower:
        return f"{tower}: differs by {difference:+.2f}"
    return "reproduced" if abs(difference) <= allowed + 1e-9 else f"differs by {difference:+.2f}"
