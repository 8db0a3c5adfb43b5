"""What one image offers to a stream: features, logits and probabilities of one view or of the confident ones."""

from dataclasses import dataclass

import numpy as np

from ...arrays import Bool, Float32
from ...errors import UsageError
from ..base import ViewLogits


@dataclass(frozen=True)
class Observation:
    """The kept views of one image."""

    features: Float32  # (kept, dim), unit rows
    logits: Float32  # (kept, classes)
    probabilities: Float32  # (kept, classes)
    kept: Bool  # (views,)


def observe(views: ViewLogits, keep: float) -> Observation:
    """What is learned from an image; a single view is always kept."""
    if views.features is None:
        raise UsageError("streaming methods work on features: they need ViewLogits with features.")
    kept = views.kept(keep)
    return Observation(views.features[kept], views.logits[kept], np.exp(views.logp[kept]), kept)
