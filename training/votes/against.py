"""What fits on margins share: the background that labels are measured against, and a logistic regression."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from training.votes.views import PHOTO, Labels
from viewvote.classify.background import build_background
from viewvote.encoders import Encoder
from viewvote.encoders.text_head import TextHead, build_text_head
from viewvote.labels.background import BACKGROUND_NAMES

Float64 = NDArray[np.float64]


class Background:
    """The names a label set is measured against, some of them left out."""

    def __init__(self, encoder: Encoder) -> None:
        self.encoder = encoder

    def head(self, labels: Labels, *, without: tuple[str, ...] = ()) -> TextHead:
        known = {name.lower() for name in without}

        def build(
            encoder: Encoder, names: tuple[str, ...], *, templates: list[str], cache_dir: Path | None
        ) -> TextHead:
            left = [name for name in names if names is not BACKGROUND_NAMES or name.lower() not in known]
            return build_text_head(encoder, left, templates=templates, cache_dir=cache_dir)

        return build_background(self.encoder, labels.head, templates=PHOTO, build_head=build)  # type: ignore[arg-type]


def logistic(design: Float64, right: NDArray[np.bool_]) -> list[float]:
    """The coefficients of a logistic regression, by Newton's steps."""
    found = np.zeros(design.shape[1])
    for _ in range(60):
        expected = 1 / (1 + np.exp(-(design @ found)))
        curvature = (design * (expected * (1 - expected))[:, None]).T @ design + 1e-6 * np.eye(len(found))
        found -= np.clip(np.linalg.solve(curvature, design.T @ (expected - right)), -2, 2)
    return [float(value) for value in found]
