"""Pictures of a sheet: reliability diagrams and the risk-coverage curve. Needs the `plots` extra."""

from pathlib import Path
from typing import Any

from ..errors import MissingExtraError, UsageError
from ..report.sheet import Sheet
from .drawing import FAINT, GRID, INK
from .explain import PALETTE

SUFFIXES = (".png", ".svg", ".pdf")


def plot_sheet(sheet: Sheet, path: Path) -> None:
    """Write the picture of a sheet to `path`, in the format of its ending."""
    if path.suffix.lower() not in SUFFIXES:
        raise UsageError(f"a plot is written as one of {', '.join(SUFFIXES)}; got {path.name!r}.")
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError.for_extra("plots", what="--plot") from error

    panels = len(sheet.calibration) + 1
    figure = Figure(figsize=(3.4 * panels, 3.9), layout="constrained")
    axes = figure.subplots(1, panels, squeeze=False)[0]
    for axis, (name, found) in zip(axes, sheet.calibration.items(), strict=False):
        _reliability(axis, name, found)
    _risk(axes[-1], sheet)
    figure.suptitle(
        f"{sheet.run.title}, {sheet.run.model}, {sheet.run.dataset}, n = {sheet.rates['top-1'].n}", fontsize=10
    )
    try:
        figure.savefig(path, dpi=150)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}.") from error


def _reliability(axis: Any, name: str, found: Any) -> None:
    """Accuracy per bin of confidence; bars below the diagonal are over-confidence (Fig. 1b)."""
    width = found.edges[1] - found.edges[0]
    held = found.count > 0
    accuracy, count = found.accuracy[held], found.count[held]
    bars = axis.bar(found.edges[:-1][held], accuracy, width, align="edge", color=PALETTE[0], edgecolor="white")
    for bar, n in zip(bars, count, strict=True):
        bar.set_alpha(0.3 + 0.7 * n / count.max())  # bins that hold little are faint
    axis.plot([0, 1], [0, 1], color=INK, linewidth=1, linestyle="--")
    axis.plot(found.confidence[held], accuracy, "o", color=PALETTE[1], markersize=3)
    axis.set(
        xlim=(0, 1),
        ylim=(0, 1),
        xlabel=f"confidence ({found.count.sum()} in {len(found.count)} bins)",
        ylabel="accuracy",
    )
    axis.set_title(f"{name}\nECE {found.ece:.3f}, unweighted {found.ece_paper:.3f}", fontsize=9)
    axis.set_aspect("equal")
    _tidy(axis)


def _risk(axis: Any, sheet: Sheet) -> None:
    for colour, (name, curve) in zip(PALETTE, sheet.selection.items(), strict=False):
        axis.plot(curve.coverage, curve.risk, color=colour, label=f"{name}, AURC {curve.aurc:.3f}")
    axis.set(xlim=(0, 1), ylim=(0, None), xlabel="coverage", ylabel="risk")
    axis.set_title("risk of the images answered", fontsize=9)
    axis.legend(fontsize=7, frameon=False, loc="best")
    _tidy(axis)


def _tidy(axis: Any) -> None:
    axis.spines[["top", "right"]].set_visible(False)
    axis.tick_params(labelsize=7, colors=FAINT)
    axis.grid(color=GRID, linewidth=0.6)
    axis.set_axisbelow(True)
