"""Plain zero-shot classification: the source view alone."""

from dataclasses import dataclass

import numpy as np

from ..vote import checked_logits, log_softmax
from .base import Decision, ViewLogits, probability_decision


@dataclass(frozen=True)
class ZeroShot:
    """What the model says without test-time adaptation: the softmax of the source view."""

    name = "zero-shot"
    confidence_is = "probability"

    def views_used(self, n_views: int) -> int:
        """The source view only."""
        del n_views
        return 1

    def decide(self, views: ViewLogits) -> list[Decision]:
        """The most probable class of each source view."""
        logp = log_softmax(checked_logits(views.logits)[:, :1])  # (images, 1, classes)
        return [probability_decision(np.exp(one[0]), one, np.ones(1, dtype=np.bool_)) for one in logp]
