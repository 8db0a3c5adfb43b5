"""How many threads encode, and how many views at a time: small batches where large ones save nothing."""

import os
from dataclasses import dataclass

from ..encoders import Encoder
from ..encoders.base import Concurrent
from ..encoders.batch_size import fastest_batch

LANES = 2
"""Threads that encode with a model that allows it: while one decides or waits, the other encodes."""


@dataclass(frozen=True)
class Lanes:
    """Threads that encode at the same time, and the views that each has in a batch."""

    count: int
    batch_views: int


def lanes_for(encoder: Encoder, teacher: Encoder | None = None) -> Lanes:
    """What keeps the machine busy and answers soon.

    An answer waits for the batch that its views are in. Where a view costs the same in any batch, a batch of one view
    per core loses nothing but that waiting. Other models get one thread and the batches that are fastest with them.
    """
    concurrent = all(isinstance(one, Concurrent) and one.concurrent for one in (encoder, teacher) if one is not None)
    if not (encoder.linear_cost and concurrent):
        return Lanes(1, fastest_batch(encoder))
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return Lanes(LANES, cores)
