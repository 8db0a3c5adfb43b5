"""TDA: two small caches of past images correct the logits (Karmanov et al., 2024)."""

from dataclasses import dataclass, field
from math import log2

import numpy as np

from ...arrays import Float32
from ...vote import entropy_of, log_softmax
from ..base import Decision, Stream, StreamingMethod, ViewLogits, probability_decision
from .base import observe


@dataclass(frozen=True)
class Tda(StreamingMethod):
    """The authors' ImageNet values; they tuned alpha and beta on each test set, which we do not.

    alpha, beta           weight and sharpness of the positive cache
    alpha_neg, beta_neg   the same for the negative cache
    shots, shots_neg      images kept per predicted class
    entropy_range         an image may enter the negative cache if its entropy over log2(classes) lies inside
    mask_range            the negative cache counts against classes whose probability lies inside
    multi_view            use the confident views of each image instead of its source view alone
    """

    alpha: float = 2.0
    beta: float = 5.0
    alpha_neg: float = 0.117
    beta_neg: float = 1.0
    shots: int = 3
    shots_neg: int = 2
    entropy_range: tuple[float, float] = (0.2, 0.5)
    mask_range: tuple[float, float] = (0.03, 1.0)
    multi_view: bool = False
    keep: float = 0.1

    name = "tda"
    templates = "ensemble"

    def views_used(self, n_views: int) -> int:
        """The source view, or all of them."""
        return n_views if self.multi_view else 1

    def start(self) -> "TdaStream":
        """A stream with empty caches."""
        return TdaStream(self)


@dataclass(frozen=True)
class Item:
    """A past image: its feature, how unsure it was, and which classes it counts for (or against)."""

    feature: Float32  # (dim,)
    entropy: float
    classes: Float32  # (classes,)


@dataclass
class TdaStream(Stream):
    """The caches, per predicted class, each sorted by entropy."""

    method: Tda
    positive: dict[int, list[Item]] = field(default_factory=dict)
    negative: dict[int, list[Item]] = field(default_factory=dict)

    def decide(self, views: ViewLogits) -> Decision:
        """The decision for the next image, which enters the caches before it is predicted, as its authors do."""
        m, seen = self.method, observe(views, self.method.keep)
        feature = seen.features.mean(axis=0)  # not normalised again, as in the authors' code
        logits, probabilities = seen.logits.mean(axis=0), seen.probabilities.mean(axis=0)
        entropy = float(entropy_of(np.log(np.maximum(probabilities, np.finfo(np.float32).tiny))))
        label = int(logits.argmax())
        one_hot = np.zeros(len(logits), dtype=np.float32)
        one_hot[label] = 1
        _remember(self.positive, label, Item(feature, entropy, one_hot), m.shots)
        # Nats over bits, so the ratio never exceeds ln 2: the authors' thresholds assume it.
        low, high = m.entropy_range
        if len(logits) > 1 and low < entropy / log2(len(logits)) < high:
            against = ((probabilities > m.mask_range[0]) & (probabilities < m.mask_range[1])).astype(np.float32)
            _remember(self.negative, label, Item(feature, entropy, against), m.shots_neg)
        final = logits + m.alpha * _recall(self.positive, feature, m.beta, len(logits))
        final = final - m.alpha_neg * _recall(self.negative, feature, m.beta_neg, len(logits))
        return probability_decision(views, np.exp(log_softmax(final.astype(np.float32))), kept=seen.kept)


def _remember(cache: dict[int, list[Item]], label: int, item: Item, capacity: int) -> None:
    """Add the item; a full class keeps its least unsure items."""
    items = cache.setdefault(label, [])
    if len(items) < capacity:
        items.append(item)
    elif item.entropy < items[-1].entropy:
        items[-1] = item
    items.sort(key=lambda one: one.entropy)


def _recall(cache: dict[int, list[Item]], feature: Float32, beta: float, n_classes: int) -> Float32:
    """The classes of the cached items, each weighted by its likeness to `feature`."""
    recalled = np.zeros(n_classes, dtype=np.float32)
    for item in (one for items in cache.values() for one in items):
        recalled += np.float32(np.exp(-beta * (1 - float(feature @ item.feature)))) * item.classes
    return recalled
