"""The confusion matrix as a picture: all classes, or the most confused ones where there are many. Needs `plots`."""

from pathlib import Path
from typing import Any

import numpy as np

from ..report.classes import ClassSheet
from .plots import faint, ink, page, save_plot

MOST = 30
"""Classes that have room with their names."""
WRITTEN = 15
"""Classes up to which cells have their counts written in."""


def plot_confusion(sheet: ClassSheet, path: Path, *, title: str, dark: bool = False) -> None:
    """Write the confusion matrix to `path`, in the format of its ending."""
    chosen = _chosen(sheet)
    inches = 3.2 + 0.26 * len(chosen)
    save_plot(lambda figure: _draw(figure, sheet, chosen, title), path, size=(inches + 0.9, inches), dark=dark)


def _chosen(sheet: ClassSheet) -> list[int]:
    """All classes that occur, or those with the most mistakes, in the order of the labels."""
    totals = sheet.matrix.sum(axis=0) + sheet.matrix.sum(axis=1)
    wrong = totals - 2 * np.diag(sheet.matrix)
    present = np.flatnonzero(totals)
    return sorted(int(label) for label in present[np.argsort(-wrong[present], kind="stable")][:MOST])


def _draw(figure: Any, sheet: ClassSheet, chosen: list[int], title: str) -> None:
    counts = sheet.matrix[np.ix_(chosen, chosen)]
    share = counts / np.maximum(1, sheet.matrix[chosen].sum(axis=1, keepdims=True))  # of all answers, shown or not
    axis = figure.subplots()
    image = axis.imshow(share, vmin=0, vmax=1)  # in the style's colours: from the page's own to one far from it
    names = [_short(sheet.names[label]) for label in chosen]
    axis.set_xticks(range(len(chosen)), names, rotation=60, ha="right", rotation_mode="anchor")
    axis.set_yticks(range(len(chosen)), names)
    axis.set(xlabel="what it was called", ylabel="what the image shows")
    axis.tick_params(length=0, colors=ink())
    axis.spines[:].set_visible(False)
    axis.grid(visible=False)
    if len(chosen) <= WRITTEN:
        for row, column in np.argwhere(counts > 0):
            colour = page() if share[row, column] > 0.6 else ink()
            axis.text(column, row, counts[row, column], ha="center", va="center", fontsize=7, color=colour)
    left_out = np.count_nonzero(sheet.matrix.sum(axis=1)) - len(chosen)
    note = f"\nthe {len(chosen)} classes with the most mistakes; {left_out} more" if left_out > 0 else ""
    axis.set_title(title + note)
    bar = figure.colorbar(image, ax=axis, shrink=0.7, label="share of the row's images")
    bar.ax.tick_params(colors=faint())
    bar.outline.set_visible(False)


def _short(name: str, most: int = 24) -> str:
    return name if len(name) <= most else name[: most - 3].rstrip() + "..."
