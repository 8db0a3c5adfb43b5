"""DOTA: class means and a shared covariance, estimated on the stream, correct the logits (Han et al., 2024)."""

from dataclasses import dataclass

import numpy as np

from ...arrays import Float32, Float64
from ...vote import log_softmax
from ..base import Decision, Stream, StreamingMethod, ViewLogits, probability_decision
from .base import observe

NEGLIGIBLE = 1e-7
"""A class that gets less than this of an image keeps its covariance as it is: a thousand of 512 x 512 is a gigabyte."""


@dataclass(frozen=True)
class Dota(StreamingMethod):
    """One setting for every dataset; the authors tune eta and rho on each test set, which we do not.

    sigma, mean      where every class starts: covariance sigma * I, and this number in every place of its mean
    epsilon          shrinkage of the averaged covariance before it is inverted
    rho, eta         the correction weighs rho times the average count of a class, at most eta
    multi_view       use the confident views of each image instead of its source view alone
    """

    epsilon: float = 1e-4
    sigma: float = 2e-3
    eta: float = 0.3
    rho: float = 0.02
    mean: float = 1e-3
    multi_view: bool = False
    keep: float = 0.1

    name = "dota"
    templates = "ensemble"

    def views_used(self, n_views: int) -> int:
        """The source view, or all of them."""
        return n_views if self.multi_view else 1

    def start(self) -> "DotaStream":
        """A stream that has seen nothing."""
        return DotaStream(self)


class DotaStream(Stream):
    """Counts, means and covariances of the classes, shaped by the first image."""

    def __init__(self, method: Dota) -> None:
        self.method = method
        self.counts: Float64 | None = None

    def decide(self, views: ViewLogits) -> Decision:
        """The decision for the next image: predicted first, learned from afterwards."""
        seen = observe(views, self.method.keep)
        n_classes, dim = seen.logits.shape[1], seen.features.shape[1]
        if self.counts is None or len(self.counts) != n_classes:
            self._shape(n_classes, dim)
        logits = seen.logits.mean(axis=0) + self._weight(len(seen.features)) * self._scores(seen.features.mean(axis=0))
        self._learn(seen.features.astype(np.float64), seen.probabilities.astype(np.float64))
        return probability_decision(views, np.exp(log_softmax(logits.astype(np.float32))), kept=seen.kept)

    def _shape(self, n_classes: int, dim: int) -> None:
        m = self.method
        self.counts = np.ones(n_classes)
        self.means = np.full((n_classes, dim), m.mean)
        self.covariances: dict[int, Float64] = {}  # of classes that differ from the start
        self.start = m.sigma * np.eye(dim)
        self.precision = np.eye(dim) / m.sigma

    def _weight(self, n_views: int) -> float:
        assert self.counts is not None  # noqa: S101 - set by _shape
        return float(min(self.method.rho * self.counts.mean() / n_views, self.method.eta))

    def _scores(self, feature: Float32) -> Float64:
        """Linear discriminant scores (classes,) of a feature."""
        projected = self.means @ self.precision  # (classes, dim)
        scores: Float64 = projected @ feature - 0.5 * (projected * self.means).sum(axis=1)
        return scores

    def _learn(self, features: Float64, soft: Float64) -> None:
        """Update the statistics with the image's views, each shared among classes by its probabilities `soft`."""
        assert self.counts is not None  # noqa: S101 - set by _shape
        mass = soft.sum(axis=0)  # (classes,)
        total = self.counts + mass
        for c in np.flatnonzero(mass > NEGLIGIBLE):
            offset = features - self.means[c]  # with the old mean, as in the authors' code
            old = self.covariances.get(int(c), self.start)
            self.covariances[int(c)] = (self.counts[c] * old + (soft[:, c, None] * offset).T @ offset) / total[c]
        self.means = (soft.T @ features + self.counts[:, None] * self.means) / total[:, None]
        self.counts = total
        untouched = len(total) - len(self.covariances)
        average = (sum(self.covariances.values()) + untouched * self.start) / len(total)
        shrunk = (1 - self.method.epsilon) * average + self.method.epsilon * np.eye(len(self.start))
        self.precision = np.asarray(np.linalg.inv(shrunk), dtype=np.float64)
