"""MTA: the mode of the views' features, found by mean shift with learned inlierness (Zanella and Ben Ayed, 2024)."""

from dataclasses import dataclass

import numpy as np

from ..arrays import Float64
from ..errors import UsageError
from ..vote import log_softmax
from .base import Decision, TrainingFreeMethod, ViewLogits, probability_decision


@dataclass(frozen=True)
class Mta(TrainingFreeMethod):
    """A robust mean of the views: no training, no hard selection; defaults as its authors released them.

    lambda_y, lambda_q  how evenly views are weighted, and how much agreeing views pull each other up
    neighbours          share of the other views that set a view's bandwidth
    """

    lambda_y: float = 0.2
    lambda_q: float = 4.0
    neighbours: float = 0.3
    iterations: int = 5
    threshold: float = 1e-6

    name = "mta"

    def decide(self, views: ViewLogits) -> Decision:
        """The class nearest to the mode; a view counts as kept where its weight is above the average."""
        if views.features is None or views.text is None:
            raise UsageError("mta works on features: it needs ViewLogits with features and text.")
        mode, weights = self.find_mode(views.features.astype(np.float64), np.exp(views.logp).astype(np.float64))
        scaled = views.logit_scale * (views.text @ mode.astype(np.float32)) + views.logit_bias
        if views.offsets is not None:
            scaled = scaled - views.offsets
        probabilities = np.exp(log_softmax(np.asarray(scaled, dtype=np.float32)))
        return probability_decision(views, probabilities, kept=weights >= 1 / len(weights))

    def find_mode(self, features: Float64, probabilities: Float64) -> tuple[Float64, Float64]:
        """The unit mode (dim,) of unit features (views, dim), and each view's weight."""
        n = len(features)
        if n == 1:
            return features[0], np.ones(1)
        bandwidth = self._bandwidths(features)
        affinity = probabilities @ probabilities.T  # (views, views)
        weights = np.full(n, 1 / n)
        mode = features[0]
        for _ in range(self.iterations):
            density = self._density(features, mode, bandwidth)
            for _ in range(self.iterations):
                before, weights = weights, _softmax((density + self.lambda_q * affinity @ weights) / self.lambda_y)
                if np.linalg.norm(weights - before) < self.threshold:
                    break
            for _ in range(self.iterations):
                pull = self._density(features, mode, bandwidth) * weights
                moved = pull @ features
                moved = moved / np.linalg.norm(moved)  # dividing by the sum of pulls first would change nothing
                step, mode = np.linalg.norm(moved - mode), moved
                if step < self.threshold:
                    break
        return mode, weights

    def _bandwidths(self, features: Float64) -> Float64:
        """Per view, the mean squared distance to its nearest other views."""
        # Differs: int(0.3 * (N - 1)) neighbours are none for four views or fewer, and the bandwidth NaN; we take one.
        k = max(1, int(self.neighbours * (len(features) - 1)))
        squared = np.maximum(2 - 2 * features @ features.T, 0)
        nearest: Float64 = np.sort(squared, axis=1)[:, 1 : k + 1].mean(axis=1)
        return np.maximum(nearest, 1e-12)  # identical views (a one-coloured image) have no spread

    @staticmethod
    def _density(features: Float64, mode: Float64, bandwidth: Float64) -> Float64:
        values: Float64 = np.exp(-((features - mode) ** 2).sum(axis=1) / bandwidth)
        return values


def _softmax(x: Float64) -> Float64:
    raised = np.exp(x - x.max())
    weights: Float64 = raised / raised.sum()
    return weights
