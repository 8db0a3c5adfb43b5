"""The answer "none of these", for photos that show none of the labels."""

from dataclasses import replace

import numpy as np

from ..arrays import Float32
from ..prediction import NONE_OF_THESE, Prediction
from ..probability import led_by
from .background import MarginFit, margins

MOST = 0.99
"""No photo is more surely without any of the labels, as no answer is surer than that."""
NONE = "none"
"""The name of its numbers in a model's calibration."""

UNFITTED = MarginFit(slope=-0.5854, offset=-3.1382, per_doubling=0.4023)
"""For models that nobody has fitted: what CLIP ViT-B/16 has, whose scale most CLIP-like models share."""


def none_probability(source: Float32, background: Float32 | None, fit: MarginFit) -> float:
    """How likely a photo is to show none of the labels, by its source view.

    source      the labels' logits (labels,)
    background  the background's logits (names,); None for a model that scores each label alone (SigLIP): there it is
                that no label is there by itself
    """
    if background is None:
        found = float(1 - 1 / (1 + np.exp(-source.max().astype(np.float64))))
    else:
        found = fit.apply(float(margins(source[None], background[None]).max()), labels=len(source))
    return min(found, MOST)


def with_none(prediction: Prediction, probability: float, *, least: float, abstain_below: float) -> Prediction:
    """The prediction with one more label, which is the answer where its probability is at least `least`."""
    labels = (*prediction.labels, NONE_OF_THESE)
    is_none = probability >= least
    index = len(labels) - 1 if is_none else prediction.index
    shares = np.append(prediction.probabilities.astype(np.float64) * (1 - probability), probability)
    blend = led_by(shares, index).astype(np.float32)
    found = float(blend[index])
    return replace(
        prediction,
        labels=labels,
        index=index,
        probability=found,
        scores=np.append(prediction.scores, np.float32(0)),
        votes=None if prediction.votes is None else np.append(prediction.votes, prediction.votes.dtype.type(0)),
        tie_break=None if is_none else prediction.tie_break,
        abstained=found < abstain_below,
        blend=blend,
    )
