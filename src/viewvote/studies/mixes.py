"""Folders of several mixes drawn from labelled photos: what the photos of a user might be."""

from collections.abc import Iterator

import numpy as np

from ..arrays import Int64

MIXES = ("balanced", "zipf", "half", "80%", "two", "one")
"""As the photos are; a long tail (shares 1, 1/2, 1/3, ...); one label fills half, 80%; two labels; one."""

VARIED = ("balanced", "zipf")
TAIL = 100
"""Photos of a long tail, but no more than half of all."""


def draw_folders(labels: Int64, rng: np.random.Generator, *, each: int) -> Iterator[tuple[str, Int64]]:
    """The mix of each folder and the positions of its photos: `each` long tails, and as many labels that fill one."""
    n, present = len(labels), rng.permutation(np.unique(labels))
    of = {int(label): np.flatnonzero(labels == label) for label in present}
    yield "balanced", np.arange(n)
    for _ in range(each):
        weights = np.zeros(n)
        for rank, label in enumerate(rng.permutation(present), start=1):
            weights[of[int(label)]] = 1 / rank / len(of[int(label)])
        yield "zipf", rng.choice(n, max(1, min(TAIL, n // 2)), replace=False, p=weights / weights.sum())
    for label in present[:each].tolist():
        own, others = of[label], np.flatnonzero(labels != label)
        yield "one", own
        if len(others):
            size = min(len(own), len(others))
            yield "half", np.concatenate([own, rng.choice(others, size, replace=False)])
            yield "80%", np.concatenate([own, rng.choice(others, max(1, min(size, len(own) // 4)), replace=False)])
            yield "two", np.concatenate([own, of[int(rng.choice(present[present != label]))]])
