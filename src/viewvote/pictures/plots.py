"""Plots: a sheet's reliability diagrams and risk-coverage curve, and the parts that studies share. Needs `plots`.

Sizes and colours are those of `viewvote.mplstyle` beside this file, and of `viewvote-dark.mplstyle` for dark pages.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import MissingExtraError, UsageError
from ..files import default_cache_dir
from ..outputs import put_output
from ..report.sheet import Sheet

SUFFIXES = (".png", ".svg", ".pdf")
DATED = {"svg": "Date", "pdf": "CreationDate"}
"""Formats that would write down when they were drawn: the same runs give the same file."""
LIGHT = Path(__file__).with_name("viewvote.mplstyle")
DARK = Path(__file__).with_name("viewvote-dark.mplstyle")


def save_plot(draw: Callable[[Any], None], path: Path, *, size: tuple[float, float], dark: bool = False) -> None:
    """Write what `draw` draws on a matplotlib Figure of this size in inches, in the format of the path's ending."""
    if path.suffix.lower() not in SUFFIXES:
        raise UsageError(f"a plot is written as one of {', '.join(SUFFIXES)}; got {path.name!r}.")
    os.environ.setdefault("MPLCONFIGDIR", str(default_cache_dir() / "matplotlib"))  # its list of fonts
    try:
        from matplotlib import style
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError.for_extra("plots", what="--plot") from error

    out = BytesIO()
    with style.context([LIGHT, DARK] if dark else [LIGHT]):
        figure = Figure(figsize=size, layout="constrained")
        draw(figure)
        kind = path.suffix.lower()[1:]
        figure.savefig(out, format=kind, metadata={DATED[kind]: None} if kind in DATED else None)
    put_output(path, out.getvalue())


def ink() -> str:
    """The colour of text and axes, on the page that is being drawn."""
    return _colour("text.color")


def faint() -> str:
    """The colour of what stands back: ticks, lines of zero, notes."""
    return _colour("xtick.color")


def page() -> str:
    """The colour of the page."""
    return _colour("axes.facecolor")


def _colour(name: str) -> str:
    import matplotlib as mpl

    return str(mpl.rcParams[name])


PANELS = {
    "confidence": "Confidence: the share of votes",
    "probability": "Probability of the answer",
    "source views": "Zero-shot: the source view alone",
    "kept views": "Each kept view by itself",
}
ACROSS = 3
LEGEND = (
    "Bars: how many answers of a bin of confidence are right, faint where the bin holds few. "
    "Dots: at the mean confidence of the bin.\n"
    "A bar that ends below the dashed line is over-confident; ECE is the mean distance from the line, by images. "
    "\nRisk: the share of wrong answers when only the surest images, so many of them (coverage), are answered; "
    "AURC is its mean."
)


def plot_sheet(sheet: Sheet, path: Path, *, dark: bool = False) -> None:
    """Write the picture of a sheet to `path`, in the format of its ending."""
    panels = len(sheet.calibration) + 1
    rows = -(-panels // ACROSS)
    size = (4.0 * ACROSS, 4.7 * rows + 1.0)
    save_plot(lambda figure: _draw_sheet(figure, sheet, rows), path, size=size, dark=dark)


def _draw_sheet(figure: Any, sheet: Sheet, rows: int) -> None:
    axes = list(figure.subplots(rows, ACROSS, squeeze=False).flat)
    panels = len(sheet.calibration)
    for axis, (name, found) in zip(axes, sheet.calibration.items(), strict=False):
        draw_reliability(axis, found, title=f"{PANELS.get(name, name)}\nECE {found.ece:.3f}")
    _risk(axes[panels], sheet)
    for axis in axes[: panels + 1]:
        axis.title.set_size(11)
        axis.xaxis.label.set_size(10)
        axis.yaxis.label.set_size(10)
        axis.tick_params(labelsize=9)
    for axis in axes[panels + 1 :]:
        axis.remove()
    figure.get_layout_engine().set(h_pad=0.15, hspace=0.04)
    accuracy = sheet.rates["top-1"]
    right = f"{accuracy.value:.1%} of {accuracy.n:,} images right"
    figure.suptitle(f"{sheet.run.title}, {sheet.run.model}, on {sheet.run.dataset}: {right}")
    figure.supxlabel(LEGEND, fontsize=9, color=faint(), x=0.02, ha="left")


def draw_reliability(axis: Any, found: Any, *, title: str, colour: str = "C0") -> None:
    """Accuracy per bin of confidence; bars below the diagonal are over-confidence (Fig. 1b)."""
    width = found.edges[1] - found.edges[0]
    held = found.count > 0
    accuracy, count = found.accuracy[held], found.count[held]
    bars = axis.bar(found.edges[:-1][held], accuracy, width, align="edge", color=colour, edgecolor=page())
    for bar, n in zip(bars, count, strict=True):
        bar.set_alpha(0.3 + 0.7 * n / count.max())  # bins that hold little are faint
    axis.plot([0, 1], [0, 1], color=ink(), linewidth=1, linestyle="--")
    axis.plot(found.confidence[held], accuracy, "o", color=ink(), markersize=3, clip_on=False, zorder=3)
    axis.set(
        xlim=(0, 1),
        ylim=(0, 1),
        xlabel=f"confidence ({found.count.sum():,} in {len(found.count)} bins)",
        ylabel="accuracy",
    )
    axis.set_title(title)
    axis.set_aspect("equal")


def bars_side_by_side(
    axis: Any,
    names: Sequence[str],
    series: Mapping[str, Sequence[float]],
    *,
    colours: Sequence[str],
    errors: Mapping[str, Sequence[tuple[float, float]]] | None = None,
) -> None:
    """Groups of bars, one group per name and one bar per series; `errors` are the ends of intervals."""
    width = 0.8 / len(series)
    for i, (label, values) in enumerate(series.items()):
        at = [place + (i - (len(series) - 1) / 2) * width for place in range(len(names))]
        ends = (errors or {}).get(label)
        bounds = (
            None
            if ends is None
            else [
                [max(0.0, v - e[0]) for v, e in zip(values, ends, strict=True)],
                [max(0.0, e[1] - v) for v, e in zip(values, ends, strict=True)],
            ]
        )
        axis.bar(at, values, width, label=label, color=colours[i], yerr=bounds, error_kw={"linewidth": 0.8})
    axis.set_xticks(
        range(len(names)),
        names,
        rotation=20 if len(names) > 4 else 0,
        ha="right" if len(names) > 4 else "center",
    )
    legend_above(axis)


def _risk(axis: Any, sheet: Sheet) -> None:
    for name, curve in sheet.selection.items():
        axis.plot(curve.coverage, curve.risk, label=f"{name}, AURC {curve.aurc:.3f}")
    top = max(float(curve.risk.max(initial=0)) for curve in sheet.selection.values()) or 1.0
    axis.set(xlim=(0, 1), ylim=(0, 1.3 * top), xlabel="coverage", ylabel="risk")  # room for the legend
    axis.set_title("Risk of the images answered", fontsize=11)
    axis.legend(fontsize=9, loc="upper left")


def legend_above(axis: Any) -> None:
    """Put the legend above the axis, where it hides nothing."""
    axis.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)


def name_points(axis: Any, points: Sequence[tuple[float, float, str]]) -> None:
    """Write a name beside each point (x, y, name), in the corner where it hides the fewest points and other names."""
    width, height = axis.figure.get_size_inches()
    scale = width / np.ptp(axis.get_xlim()), height / np.ptp(axis.get_ylim())  # inches, nearly
    at = [(x * scale[0], y * scale[1]) for x, y, _ in points]
    taken = [(x - 0.04, y - 0.04, x + 0.04, y + 0.04) for x, y in at]
    for (x, y), point in zip(at, points, strict=True):
        size = 0.06 * len(point[2]), 0.11
        boxes = {
            (h, v): (
                x + 0.05 if h == "left" else x - 0.05 - size[0],
                y + 0.05 if v == "bottom" else y - 0.05 - size[1],
            )
            for h in ("left", "right")
            for v in ("bottom", "top")
        }
        ends = {key: (*low, low[0] + size[0], low[1] + size[1]) for key, low in boxes.items()}
        best = min(ends, key=lambda key: sum(_overlap(ends[key], other) for other in taken))
        taken.append(ends[best])
        offset = (4 if best[0] == "left" else -4, 4 if best[1] == "bottom" else -4)
        axis.annotate(
            point[2], point[:2], xytext=offset, textcoords="offset points", ha=best[0], va=best[1], fontsize=7
        )


def _overlap(a: Sequence[float], b: Sequence[float]) -> float:
    """The common area of two boxes, each left, bottom, right, top."""
    return max(0.0, min(a[2], b[2]) - max(a[0], b[0])) * max(0.0, min(a[3], b[3]) - max(a[1], b[1]))
