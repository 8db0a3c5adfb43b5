"""What one image offers to a stream: a feature, logits and probabilities, from one view or from the confident ones."""

from dataclasses import dataclass

import numpy as np

from ...errors import UsageError
from ...prediction import Bool, Float32
from ...vote import checked_logits, entropy_of, log_softmax
from ..base import ViewLogits, kept_mask


@dataclass(frozen=True)
class Observation:
    """The kept views of one image, and all views' log-probabilities for the trace."""

    features: Float32  # (kept, dim), unit rows
    logits: Float32  # (kept, classes)
    probabilities: Float32  # (kept, classes)
    logp: Float32  # (views, classes)
    kept: Bool  # (views,)


def observe(views: ViewLogits, keep: float) -> list[Observation]:
    """One observation per image; a single view is always kept."""
    if views.features is None:
        raise UsageError("streaming methods work on features: they need ViewLogits with features.")
    observations = []
    for logits, features in zip(checked_logits(views.logits), views.features, strict=True):
        logp = log_softmax(logits)
        kept = kept_mask(entropy_of(logp), keep)
        observations.append(Observation(features[kept], logits[kept], np.exp(logp[kept]), logp, kept))
    return observations
