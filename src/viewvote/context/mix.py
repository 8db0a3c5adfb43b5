"""How many labels a folder shows, and how many as many images of a varied folder would show."""

from math import exp, lgamma, log

import numpy as np

from ..arrays import Float64
from .pull import softmax

_LEAST = 1e-9


def effective_labels(shares: Float64) -> float:
    """How many labels of equal shares are as varied as these: the exponential of their entropy."""
    present = shares[shares > 0] / shares.sum()
    return exp(-float((present * np.log(present)).sum()))


def expected_labels(n: int, n_classes: int) -> float:
    """The effective number of labels of `n` images drawn from `n_classes` labels alike.

    The exponential of the expected entropy, log n - (classes / n) * E[k log k], where k, how often one label is drawn,
    is binomial.
    """
    if n_classes == 1 or n == 1:
        return 1.0
    k = np.arange(2, n + 1)
    log_choose = np.array([lgamma(n + 1) - lgamma(int(i) + 1) - lgamma(n - int(i) + 1) for i in k])
    drawn = np.exp(log_choose - k * log(n_classes) + (n - k) * np.log1p(-1 / n_classes))
    return exp(log(n) - n_classes / n * float((drawn * k * np.log(k)).sum()))


def variety(logits: Float64) -> float:
    """How varied photos are by their logits (images, classes): about 0 for one label, about 1 for a mix of all alike.

    What the photos tell apart, the entropy of the mean probabilities less the mean entropy of each photo's, is
    compared with what as many photos of all labels alike would tell apart if they were as unsure: a model that is
    unsure spreads the mean probabilities whatever the folder holds, and so does not take two labels for seven.
    """
    n, n_classes = logits.shape
    if n < 2 or n_classes < 2:
        return 0.0
    probabilities = softmax(logits)
    unsure = float(_entropy(probabilities).mean())
    told = float(_entropy(probabilities.mean(axis=0))) - unsure
    possible = (1 - unsure / log(n_classes)) * log(expected_labels(n, n_classes))
    return max(0.0, told / possible) if possible > _LEAST else 0.0


def _entropy(probabilities: Float64) -> Float64:
    found: Float64 = -(probabilities * np.log(np.maximum(probabilities, np.finfo(np.float64).tiny))).sum(axis=-1)
    return found
