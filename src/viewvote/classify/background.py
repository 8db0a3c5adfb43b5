"""Whether a photo shows a label at all: labels measured against names of what photographs show.

A vote is always for one of the labels, and a softmax over them says nothing of photos that show none. Here a label's
logit is compared with all that a photo might show instead: its margin is the logit minus the log of the sum of the
exponentials of the background's logits.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, isfinite, log2
from pathlib import Path

import numpy as np

from ..arrays import Float32, Float64
from ..encoders import Encoder
from ..encoders.likeness import ordinary_cosine, relative_likeness
from ..encoders.text_head import BuildHead, TextHead, build_text_head
from ..errors import UsageError
from ..labels.background import BACKGROUND_NAMES

TOO_ALIKE = 0.7
"""A name of the background that is more like a label than this (0 are ordinary names, 1 equal texts) is left out.

Otherwise "dog" would speak against the label "Pug".
"""


@dataclass(frozen=True)
class MarginFit:
    """From a margin over the background to a probability, by a line through its log odds.

    per_doubling  added to the log odds with every doubling of the number of labels: the best of many is high by chance
    least         from which probability on the answer is yes
    """

    slope: float
    offset: float
    per_doubling: float = 0.0
    least: float = 0.5

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
                raise UsageError(f"{name} of a margin's fit is a number; got {value!r}.")

    def apply(self, margin: float, *, labels: int = 1) -> float:
        """The probability that goes with a margin."""
        odds = self.offset + self.slope * margin + self.per_doubling * log2(labels)
        return 1 / (1 + exp(-min(700.0, max(-700.0, odds))))


def build_background(
    encoder: Encoder,
    head: TextHead,
    *,
    templates: Sequence[str],
    cache_dir: Path | None = None,
    build_head: BuildHead = build_text_head,
) -> TextHead:
    """The text head of the background for these labels: all its names but those that are nearly one of the labels."""
    every = build_head(encoder, BACKGROUND_NAMES, templates=templates, cache_dir=cache_dir)
    baseline = ordinary_cosine(encoder, templates=templates, cache_dir=cache_dir, build_head=build_head)
    nearest = (every.features @ head.features.T).max(axis=1)
    apart = np.array([relative_likeness(float(cosine), baseline) <= TOO_ALIKE for cosine in nearest])
    if not apart.any():
        raise UsageError(
            "to this model the labels are like every name it knows, so it cannot tell whether a photo shows one."
        )
    return TextHead(every.features[apart], cached=every.cached)


def margins(logits: Float32, background: Float32) -> Float64:
    """By how much each label's logit (views, labels) is above the background's (views, names) together."""
    top = background.max(axis=-1, keepdims=True)
    total = top[:, 0] + np.log(np.exp((background - top).astype(np.float64)).sum(axis=-1))
    found: Float64 = logits.astype(np.float64) - total[:, None]
    return found
