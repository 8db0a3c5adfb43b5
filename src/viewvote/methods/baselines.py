"""The plain rivals of the vote: zero-shot, CLIP-Ensemble, the marginal and averaged logits."""

from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Float32
from ..vote import log_softmax
from .base import Decision, TrainingFreeMethod, ViewLogits, probability_decision


@dataclass(frozen=True)
class ZeroShot(TrainingFreeMethod):
    """The model without test-time adaptation: the softmax, or for SigLIP the sigmoids, of the source view."""

    name = "zero-shot"

    def views_used(self, n_views: int) -> int:
        """The source view only."""
        del n_views
        return 1

    def decide(self, views: ViewLogits) -> Decision:
        """The most probable class of the source view."""
        source = views if len(views) == 1 else replace(views, logits=views.logits[:1])
        scores = np.exp(source.logp[0]) if views.scoring == "softmax" else _sigmoid(source.logits[0])
        return probability_decision(source, scores, kept=source.order)


@dataclass(frozen=True)
class Ensemble(ZeroShot):
    """CLIP-Ensemble: the source view against class embeddings averaged over the paper's seven templates."""

    name = "ensemble"
    templates = "ensemble"


@dataclass(frozen=True)
class Marginal(TrainingFreeMethod):
    """The class with the largest p-bar, the mean probability over the confident views: where MEM starts (Sec. 2)."""

    keep: float = 0.1

    name = "marginal"

    def decide(self, views: ViewLogits) -> Decision:
        """The largest p-bar."""
        kept = views.kept(self.keep)
        return probability_decision(views, np.exp(views.logp[kept]).mean(axis=0), kept=kept)


@dataclass(frozen=True)
class MeanLogits(TrainingFreeMethod):
    """The class with the largest logit averaged over the confident views, before the softmax."""

    keep: float = 0.1

    name = "mean-logits"

    def decide(self, views: ViewLogits) -> Decision:
        """The softmax of the averaged logits."""
        kept = views.kept(self.keep)
        return probability_decision(views, np.exp(log_softmax(views.logits[kept].mean(axis=0))), kept=kept)


def _sigmoid(logits: Float32) -> Float32:
    """1 / (1 + exp(-x)) without overflow."""
    half: Float32 = np.float32(0.5) * (1 + np.tanh(logits * np.float32(0.5)))
    return half
