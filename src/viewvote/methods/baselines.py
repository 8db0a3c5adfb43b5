"""Plain zero-shot classification: the source view alone."""

from dataclasses import dataclass

import numpy as np

from ..prediction import Float32
from ..vote import checked_logits, log_softmax
from .base import Decision, ViewLogits, probability_decision


@dataclass(frozen=True)
class ZeroShot:
    """What the model says without test-time adaptation: the softmax, or for SigLIP the sigmoids, of the source view."""

    name = "zero-shot"
    confidence_is = "probability"

    def views_used(self, n_views: int) -> int:
        """The source view only."""
        del n_views
        return 1

    def decide(self, views: ViewLogits) -> list[Decision]:
        """The most probable class of each source view."""
        logits = checked_logits(views.logits)[:, :1]  # (images, 1, classes)
        logp = log_softmax(logits)
        scores = np.exp(logp[:, 0]) if views.scoring == "softmax" else _sigmoid(logits[:, 0])
        source = np.ones(1, dtype=np.bool_)
        return [probability_decision(one, rows, source) for one, rows in zip(scores, logp, strict=True)]


def _sigmoid(logits: Float32) -> Float32:
    """1 / (1 + exp(-x)) without overflow."""
    half: Float32 = np.float32(0.5) * (1 + np.tanh(logits * np.float32(0.5)))
    return half
