"""The marginal p-bar over the kept views at the model's own temperature: what MEM methods start from (Sec. 2)."""

from dataclasses import dataclass

import numpy as np

from ..vote import checked_logits, entropy_of, log_softmax
from .base import Decision, ViewLogits, kept_mask, probability_decision


@dataclass(frozen=True)
class Marginal:
    """The class with the largest mean probability over the confident views."""

    keep: float = 0.1

    name = "marginal"
    confidence_is = "probability"

    def views_used(self, n_views: int) -> int:
        """All of them."""
        return n_views

    def decide(self, views: ViewLogits) -> list[Decision]:
        """The largest p-bar of each image."""
        decisions = []
        for logp in log_softmax(checked_logits(views.logits)):
            kept = kept_mask(entropy_of(logp), self.keep)
            decisions.append(probability_decision(np.exp(logp[kept]).mean(axis=0), logp, kept))
        return decisions
