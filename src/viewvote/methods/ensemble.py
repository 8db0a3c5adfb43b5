"""CLIP-Ensemble: plain zero-shot with the paper's seven templates."""

from dataclasses import dataclass

from .baselines import ZeroShot


@dataclass(frozen=True)
class Ensemble(ZeroShot):
    """The source view against class embeddings averaged over seven generic templates."""

    name = "ensemble"
    templates = "ensemble"
