"""Whether a folder of photos shows a pull that is worth a line to its owner."""

from collections.abc import Sequence

import numpy as np

from ..arrays import Float32
from .rule import estimate

LEAST_PHOTOS = 20
LEAST_CHANGED = 0.05
"""The part of the photos that one label must attract away from others."""


def advice_of(logits: Float32, labels: Sequence[str]) -> str | None:
    """One line that names the label which attracts most photos, from source views' logits (images, labels).

    None where nothing attracts enough of them, or where the rule for the mix would take off nothing.
    """
    if len(logits) < LEAST_PHOTOS:
        return None
    found = estimate(logits)
    if not found.share:
        return None
    before, after = (
        np.bincount(rows.argmax(axis=1), minlength=len(labels)) for rows in (logits, logits - found.offsets)
    )
    label = int((before - after).argmax())
    if before[label] - after[label] < LEAST_CHANGED * len(logits):
        return None
    return (
        f"{labels[label]!r} attracts these photos: it is the best label of {before[label]} of {len(logits)}, and of "
        f"{after[label]} where that is taken off; --context self may help."
    )
