"""Averaged logits of the kept views: voting's other plain rival."""

from dataclasses import dataclass

import numpy as np

from ..vote import checked_logits, entropy_of, log_softmax
from .base import Decision, ViewLogits, kept_mask, probability_decision


@dataclass(frozen=True)
class MeanLogits:
    """The class with the largest logit averaged over the confident views, before the softmax."""

    keep: float = 0.1

    name = "mean-logits"
    confidence_is = "probability"

    def views_used(self, n_views: int) -> int:
        """All of them."""
        return n_views

    def decide(self, views: ViewLogits) -> list[Decision]:
        """The softmax of each image's averaged logits."""
        decisions = []
        for logits in checked_logits(views.logits):
            logp = log_softmax(logits)
            kept = kept_mask(entropy_of(logp), self.keep)
            decisions.append(probability_decision(np.exp(log_softmax(logits[kept].mean(axis=0))), logp, kept))
        return decisions
