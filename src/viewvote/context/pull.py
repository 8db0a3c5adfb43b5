"""How strongly each label attracts photos whatever they show, from the logits (images, classes) of unlabelled ones.

A pull is a number per label in units of logits, with mean 0: taking it off every photo's logits takes the attraction
out. None of these functions depends on the order of the images but in the last bits.
"""

import numpy as np

from ..arrays import Float64, Int64

RESTART = 0.01
"""Share of every step that goes to all labels alike: it bounds a pull that nothing limits (Frolic has the same)."""

MOST_LABELS = 2000
"""Of more labels only so many, the most probable ones, can have a pull by leaks: it takes their square in memory."""

COMMON = 10
"""Photos that count for what labels have in common, beside those that show a label."""

STEPS = 60
_LEAST = 1e-9


def softmax(logits: Float64) -> Float64:
    """Probabilities over the last axis."""
    odds = np.exp(logits - logits.max(axis=-1, keepdims=True))
    probabilities: Float64 = odds / odds.sum(axis=-1, keepdims=True)
    return probabilities


def centred(values: Float64) -> Float64:
    """The values less their mean: what all labels have in common decides nothing."""
    found: Float64 = values - values.mean()
    return found


def mean_pull(logits: Float64) -> Float64:
    """The mean logit of each label: distribution normalisation (NeurIPS 2023). True for a folder of a balanced mix."""
    return centred(logits.mean(axis=0))


def others_pull(logits: Float64) -> Float64:
    """The mean logit of each label over images weighed by how unlikely they show it."""
    weights = 1 - softmax(logits)
    return centred((weights * logits).sum(axis=0) / np.maximum(weights.sum(axis=0), _LEAST))


def level_pull(logits: Float64) -> Float64:
    """Halfway between the mean logit of the photos that show a label and of those that do not, each photo by its odds.

    Neither mean depends on how many photos show the label, so the pull hardly depends on the mix. How much higher
    photos that show it are is known of few for a rare label: that is drawn to what all labels have in common, as if
    `COMMON` photos more had shown that.
    """
    probabilities, rows = softmax(logits), logits - logits.mean(axis=1, keepdims=True)
    shown, hidden = probabilities.sum(axis=0), (1 - probabilities).sum(axis=0)
    without = ((1 - probabilities) * rows).sum(axis=0) / np.maximum(hidden, _LEAST)
    lift = (probabilities * rows).sum(axis=0) / np.maximum(shown, _LEAST) - without
    common = float((shown * lift).sum() / shown.sum())
    return centred(without + (shown * lift + COMMON * common) / (shown + COMMON) / 2)


def transport_pull(logits: Float64, shares: Float64) -> Float64:
    """What must be taken off so that the mean probabilities become `shares` (classes,): transport to a known mix."""
    target = np.log(np.maximum(shares / shares.sum(), _LEAST))
    pull = np.zeros(logits.shape[1])
    for _ in range(STEPS):
        pull += np.log(np.maximum(softmax(logits - pull).mean(axis=0), _LEAST)) - target
    return centred(pull)


def leak_pull(logits: Float64) -> Float64:
    """The pull by how labels leak into each other, which hardly depends on the mix (Frolic, NeurIPS 2024).

    Images are grouped by their best label. What the images of group k give to label j on average leaks from k to j. A
    label with a pull gets more from the others than it gives; the pull is the log of where leaks in and out are equal:
    the stationary point of a walk along them. How many images a group has does not matter, as each group is averaged.
    A label that no image shows best gives nothing, so what leaks into it stays there: it is taken for absent.
    """
    probabilities = softmax(logits)
    chosen = _most_probable(probabilities)
    among = probabilities[:, chosen]
    steps = _leaks(among / among.sum(axis=1, keepdims=True))
    start = np.full(len(chosen), RESTART / len(chosen))
    stationary = np.linalg.solve(np.eye(len(chosen)) - (1 - RESTART) * steps, start)
    pull = np.zeros(logits.shape[1])
    pull[chosen] = centred(np.log(np.maximum(stationary, _LEAST)))
    return pull


def _most_probable(probabilities: Float64) -> Int64:
    """The labels that can have a pull, ascending."""
    n_classes = probabilities.shape[1]
    if n_classes <= MOST_LABELS:
        return np.arange(n_classes)
    order = np.argsort(-probabilities.sum(axis=0), kind="stable")
    return np.sort(order[:MOST_LABELS])


def _leaks(probabilities: Float64) -> Float64:
    """The mean probabilities of each group (to, from); a label without images keeps all."""
    group, n_labels = probabilities.argmax(axis=1), probabilities.shape[1]
    given = np.zeros((n_labels, n_labels))
    np.add.at(given.T, group, probabilities)
    sizes = np.bincount(group, minlength=n_labels).astype(np.float64)
    absent = sizes == 0
    given[absent, absent] = 1
    leaks: Float64 = given / np.where(absent, 1, sizes)[None, :]
    return leaks
