"""Each label alone: independent answers of yes or no, for photos that show several things."""

from collections.abc import Mapping

import numpy as np

from ..arrays import Float32, Float64
from ..checks import checked_share
from ..errors import UsageError
from ..registry import unknown_name
from .background import MarginFit, margins

EACH = "each"
"""The name of its numbers in a model's calibration."""

UNFITTED = MarginFit(slope=0.4883, offset=0.7348, least=0.2)
"""For models that nobody has fitted: what CLIP ViT-B/16 has, whose scale most CLIP-like models share."""

Thresholds = float | Mapping[str, float]


def each_probability(logits: Float32, background: Float32 | None, fit: MarginFit) -> Float32:
    """How likely each label is to be there (labels,), whatever else is: from the margins of all views seen.

    logits      (views, labels)
    background  (views, names); None for a model that scores each label alone (SigLIP): its source view's sigmoids are
                the answer
    """
    if background is None:
        sigmoid: Float32 = (1 / (1 + np.exp(-logits[0].astype(np.float64)))).astype(np.float32)
        return sigmoid
    # A small thing fills few crops: the mean of the odds lets those few speak.
    odds = np.exp(margins(logits, background)).mean(axis=0)
    margin: Float64 = np.log(np.maximum(odds, np.finfo(np.float64).tiny))
    return np.array([fit.apply(float(one)) for one in margin], dtype=np.float32)


def checked_thresholds(thresholds: Thresholds | None, labels: tuple[str, ...], *, default: float) -> Float32:
    """From which probability on each label is there (labels,): one number for all, or those of some by name."""
    found = np.full(len(labels), default, dtype=np.float32)
    if thresholds is None:
        return found
    if not isinstance(thresholds, Mapping):
        found[:] = checked_share(thresholds, name="thresholds")
        return found
    for label, value in thresholds.items():
        if label not in labels:
            raise unknown_name("label", label, labels)
        if labels.count(label) > 1:
            raise UsageError(f"label {label!r} is there twice, so a threshold of its own means neither.")
        found[labels.index(label)] = checked_share(value, name=f"the threshold of {label!r}")
    return found
