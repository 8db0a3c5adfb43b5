"""A contact sheet of mistakes, the surest first: often the label is wrong, or the picture shows both."""

import numpy as np
from PIL import Image

from ..datasets import Dataset
from ..errors import UsageError
from ..runs.read import Run
from .contact_sheet import MOST, Cell, draw_sheet


def mistakes_sheet(run: Run, dataset: Dataset, *, most: int = MOST) -> Image.Image:
    """The mistakes with the highest probability; UsageError where the run has none."""
    columns = run.columns()
    wrong = np.flatnonzero(columns.usable & ~columns.correct)
    if not len(wrong):
        raise UsageError(f"{run.path} has no mistakes to show: every image that could be used is right.")
    surest = wrong[np.argsort(-columns.probability[wrong], kind="stable")][:most]
    place = {key: position for position, key in enumerate(dataset.keys)}
    names = dataset.class_names
    cells = [
        Cell(
            dataset[place[columns.keys[i]]],
            f"{names[columns.index[i]]}?",
            f"{columns.probability[i]:.0%}; labelled {names[columns.target[i]]}",
        )
        for i in surest
    ]
    shown = (
        f"the {len(cells)} surest of {len(wrong):,} mistakes" if len(cells) < len(wrong) else f"{len(wrong)} mistakes"
    )
    return draw_sheet(f"{run.title}, {run.model}, {run.dataset}: {shown} among {columns.usable.sum():,} images", cells)
