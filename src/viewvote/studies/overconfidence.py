"""Fig. 1b and app. C: kept views are more confident than they are right, where source views are not."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..metrics.accuracy import over_seeds
from ..metrics.calibration import BINS
from ..metrics.means import pooled_means
from ..pictures.plots import bars_side_by_side, draw_reliability
from ..runs.read import Run
from .augmented import Augmented, augmented_run
from .base import COUNTS, NAMES, Column, Finding, Group, Options, groups, of_views

LAION_BINS = 10
SOURCE, KEPT = "#4477AA", "#EE7733"
"""Blue and orange, as in the paper's chart."""

COLUMNS = (
    *NAMES,
    Column("source_accuracy", "source accuracy", "percent", "source_low", "source_high"),
    Column("kept_accuracy", "kept views' accuracy", "percent", "kept_low", "kept_high", "kept_std"),
    Column("source_ece", "source ECE", "number", "source_ece_low", "source_ece_high"),
    Column("kept_ece", "kept ECE", "number", "kept_ece_low", "kept_ece_high", "kept_ece_std"),
    Column("source_ece_paper", "source ECE, 1/M", "number"),
    Column("kept_ece_paper", "kept ECE, 1/M", "number"),
    *COUNTS,
)


def study(runs: Sequence[Run], options: Options) -> Finding:
    """Accuracy and calibration of source views and of kept views, per dataset and over seeds."""
    found = [(group, *_of_group(group, options)) for group in groups(of_views(runs))]
    rows = tuple(_row(group, seeds, bins, options.keep) for group, seeds, bins in found)
    first = [(group.names["dataset"], seeds[0]) for group, seeds, _ in found]
    return Finding(
        name="overconfidence",
        title="Calibration of source views and of kept views",
        columns=COLUMNS,
        rows=rows,
        notes=(
            f"The augmented dataset holds the {options.keep:.0%} most confident views of every image (Sec. 3.1). "
            "Accuracies in % with 95% intervals: Wilson's for images, over images for their kept views. ECE weighs "
            "bins by their samples (Guo et al.), its interval is from images drawn again; 1/M is the paper's printed "
            "formula, every bin alike.",
            f"Bins: {', '.join(sorted({str(row['bins']) for row in rows}))}. Diagrams show the first seed.",
        ),
        draw=lambda figure: _draw(figure, first, rows),
        size=(6.6 * across(len(first)), 3.4 * -(-len(first) // across(len(first))) + 2.6 * (len(first) > 1)),
    )


def bins_of(group: Group, options: Options) -> int:
    """The bins asked for; else 20 as in the paper's diagrams, 10 for a model trained on LAION."""
    return options.bins or (LAION_BINS if "laion" in group.names["model"].lower() else BINS)


def across(datasets: int) -> int:
    """How many datasets share a line of the figure, each with two diagrams."""
    return 2 if datasets > 2 else 1


def _of_group(group: Group, options: Options) -> tuple[list[Augmented], int]:
    bins = bins_of(group, options)
    return [augmented_run(run, keep=options.keep, bins=bins) for run in group.runs], bins


def _row(group: Group, seeds: Sequence[Augmented], bins: int, keep: float) -> dict[str, Any]:
    one = seeds[0]
    kept, ece = over_seeds([s.kept.value for s in seeds]), over_seeds([s.kept_bins.ece for s in seeds])
    spread = pooled_means([s.kept for s in seeds])
    low, high = (float(np.mean([s.kept_ece[end] for s in seeds])) for end in (0, 1))
    return {
        **group.names,
        "keep": keep,
        "bins": bins,
        "n": one.source.n,
        "kept_n": one.kept_views,
        "seeds": len(seeds),
        "source_accuracy": one.source.value,
        "source_low": one.source.low,
        "source_high": one.source.high,
        "kept_accuracy": kept.mean,
        "kept_low": spread.low,
        "kept_high": spread.high,
        "kept_std": kept.std,
        "source_ece": one.source_bins.ece,
        "source_ece_low": one.source_ece[0],
        "source_ece_high": one.source_ece[1],
        "kept_ece": ece.mean,
        "kept_ece_low": low,
        "kept_ece_high": high,
        "kept_ece_std": ece.std,
        "source_ece_paper": one.source_bins.ece_paper,
        "kept_ece_paper": over_seeds([s.kept_bins.ece_paper for s in seeds]).mean,
    }


def _draw(figure: Any, found: Sequence[tuple[str, Augmented]], rows: Sequence[dict[str, Any]]) -> None:
    """The chart over datasets, where there are several, and the two diagrams of each."""
    chart = len(found) > 1
    columns = across(len(found))
    heights = [2.4] * chart + [3.2] * -(-len(found) // columns)
    grid = figure.add_gridspec(len(heights), 2 * columns, height_ratios=heights)
    if chart:
        axis = figure.add_subplot(grid[0, :])
        bars_side_by_side(
            axis,
            [name for name, _ in found],
            {"source": [row["source_ece"] for row in rows], "kept views": [row["kept_ece"] for row in rows]},
            colours=(SOURCE, KEPT),
            errors={
                name: [(row[f"{key}_low"], row[f"{key}_high"]) for row in rows]
                for name, key in (("source", "source_ece"), ("kept views", "kept_ece"))
            },
        )
        axis.set_ylabel("ECE")
    for at, (name, one) in enumerate(found):
        parts = (
            ("source", one.source.value, one.source_bins, SOURCE),
            ("kept views", one.kept.value, one.kept_bins, KEPT),
        )
        for side, (what, accuracy, bins, colour) in enumerate(parts):
            axis = figure.add_subplot(grid[chart + at // columns, 2 * (at % columns) + side])
            title = f"{name}, {what}\naccuracy {100 * accuracy:.1f}%, ECE {bins.ece:.3f}"
            draw_reliability(axis, bins, title=title, colour=colour)
