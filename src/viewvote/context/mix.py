"""How many labels a folder shows, and how many as many images of a varied folder would show."""

from math import exp, lgamma, log

import numpy as np

from ..arrays import Float64


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
