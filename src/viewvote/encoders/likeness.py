"""How alike the texts of labels are to a model, on a scale where ordinary names have 0 and equal texts 1."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..arrays import Float32
from ..labels.ordinary import ORDINARY_NAMES
from .base import Encoder
from .text_head import BuildHead, TextHead, build_text_head


def mean_cosine(features: Float32) -> float:
    """The mean cosine over pairs of unit rows (texts, dim); 0 for a single text."""
    n = len(features)
    if n < 2:
        return 0.0
    total = features.astype(np.float64).sum(axis=0)
    return float((total @ total - n) / (n * (n - 1)))


def relative_likeness(cosine: float, baseline: float) -> float:
    """Where a mean cosine lies between that of ordinary names (0, or anything below) and 1 (1).

    A model to which all ordinary names are one text has no scale: 0.
    """
    if baseline > 1 - 1e-6:
        return 0.0
    return min(1.0, max(0.0, (cosine - baseline) / (1 - baseline)))


def label_likeness(
    encoder: Encoder,
    head: TextHead,
    *,
    templates: Sequence[str],
    cache_dir: Path | None = None,
    build_head: BuildHead = build_text_head,
) -> float:
    """How alike the labels of a text head are to its model, in [0, 1].

    The mean cosine of texts differs from model to model (ordinary names have 0.01 with the embedded model and 0.52
    with CLIP ViT-B/16) and from template to template. So it is measured against ordinary names in the same templates,
    whose text head is kept on disk like any other.
    """
    baseline = ordinary_cosine(encoder, templates=templates, cache_dir=cache_dir, build_head=build_head)
    return relative_likeness(mean_cosine(head.features), baseline)


def ordinary_cosine(
    encoder: Encoder,
    *,
    templates: Sequence[str],
    cache_dir: Path | None = None,
    build_head: BuildHead = build_text_head,
) -> float:
    """The mean cosine of ordinary names in these templates."""
    ordinary = build_head(encoder, ORDINARY_NAMES, templates=templates, cache_dir=cache_dir)
    return mean_cosine(ordinary.features)
