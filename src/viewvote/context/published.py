"""The corrections of other authors, with the settings of their published code: to compare with."""

from collections.abc import Callable, Mapping

import numpy as np

from ..arrays import Float64
from .pull import mean_pull, softmax

LAMBDA = 0.25
"""The part of the mean that DN takes off."""

ROUNDS, WALK, TOLERANCE = 11, 100, 1e-3
_LEAST = 1e-12


def dn_offsets(logits: Float64) -> Float64:
    """Distribution normalisation (NeurIPS 2023): a quarter of the mean logits, whatever the mix.

    Its authors take a quarter of the mean features off images and texts before these are unit vectors again.
    """
    return LAMBDA * mean_pull(logits)


def frolic_offsets(logits: Float64) -> Float64:
    """Frolic's debiasing (NeurIPS 2024) as in its published code: eleven rounds of the whole estimate.

    In each round photos whose two best logits are apart by 1 / classes or less are left out, and the stationary point
    of the leaks between labels (see `leak_pull`) is taken off. A label that no photo shows best gives nothing and
    keeps nothing, so it gains.
    """
    left, kept = logits, logits
    for _ in range(ROUNDS):
        best_two = np.partition(kept, -2, axis=1)[:, -2:]
        kept = kept[best_two[:, 1] - best_two[:, 0] > 1 / logits.shape[1]]
        if not len(kept):
            break
        left = left - np.log(_stationary(kept) + _LEAST)
        kept = left
    taken: Float64 = logits[0] - left[0]
    return taken


PUBLISHED: Mapping[str, Callable[[Float64], Float64]] = {"dn": dn_offsets, "frolic": frolic_offsets}
"""By name; a method that needs to know the mix (OTTER) is no such function: `transport_pull` does its part."""


def _stationary(logits: Float64) -> Float64:
    """Where a walk along the mean probabilities of each group comes to rest."""
    probabilities, n_labels = softmax(logits), logits.shape[1]
    group = logits.argmax(axis=1)
    steps = np.zeros((n_labels, n_labels))  # (to, from)
    np.add.at(steps.T, group, probabilities)
    steps /= np.maximum(np.bincount(group, minlength=n_labels), 1)
    place = np.full(n_labels, 1 / n_labels)
    for _ in range(WALK):
        reached = steps @ place
        reached /= reached.sum()
        if np.abs(reached - place).sum() < TOLERANCE:
            break
        place = reached
    return place
