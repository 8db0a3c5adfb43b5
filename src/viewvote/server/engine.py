"""One encoder, one bounded queue: who is admitted, and the crew that answers."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import ceil
from threading import Lock
from time import perf_counter

from ..encoders import Encoder
from ..encoders.base import Concurrent
from ..encoders.batch_size import fastest_batch
from .batches import Batches
from .crew import Crew, Duty
from .features import FeatureCache
from .job import Job
from .lanes import Lanes
from .refusals import RefusedError

WORTH = 0.9
"""How much of the running mean of seconds per image the past is worth."""

FEWEST_LANES = 2
"""An image that is slow to decode must not stop the others, whatever the number of cores."""


class Engine:
    """Admits at most `max_queue` images, and has a crew answer their jobs."""

    def __init__(
        self,
        encoder: Encoder,
        features: FeatureCache,
        *,
        max_queue: int,
        max_views: int,
        teacher: Encoder | None = None,
    ) -> None:
        self._max_queue = max_queue
        self._lock = Lock()
        self._admitted = 0
        self._closed = False
        self._seconds_per_image = 0.05
        self._since = perf_counter()  # when it last answered, or its work began
        self.on_batch: Callable[[int], None] = lambda _: None
        duty = Duty(encoder, features, encoded=lambda views: self.on_batch(views), answered=self._note_answer)
        self.crew = crew_for(duty, teacher, max_queue=max_queue, max_views=max_views)

    def start(self) -> None:
        """Start the threads."""
        self.crew.start()

    def close(self) -> None:
        """End the threads once every job has its answer."""
        self._closed = True
        self.crew.close()

    @property
    def alive(self) -> bool:
        """Whether jobs are answered."""
        return not self._closed and self.crew.alive

    @property
    def admitted(self) -> int:
        """Images of requests that are not answered yet."""
        return self._admitted

    @property
    def waiting(self) -> int:
        """Images whose preparation has not started."""
        return self.crew.waiting

    def check_room(self, images: int = 1) -> None:
        """Raise RefusedError (429) unless that many images would be admitted now."""
        if self._closed:
            raise RefusedError("not_ready", "the service is shutting down; try another one.")
        if self._admitted + images > self._max_queue:
            seconds = max(1, min(60, ceil(self._admitted * self._seconds_per_image)))
            raise RefusedError(
                "queue_full",
                f"{self._admitted} images are waiting and the queue holds {self._max_queue}; "
                f"try again in {seconds} seconds.",
                headers={"Retry-After": str(seconds)},
            )

    @contextmanager
    def admitted_images(self, count: int) -> Iterator[None]:
        """Places in the queue for as long as it lasts, or RefusedError."""
        with self._lock:
            self.check_room(count)
            if not self._admitted:
                self._since = perf_counter()
            self._admitted += count
        try:
            yield
        finally:
            with self._lock:
                self._admitted -= count

    def submit(self, jobs: Sequence[Job]) -> None:
        """Queue jobs for which there are places; each delivers its outcome."""
        self.crew.submit(jobs)

    def _note_answer(self) -> None:
        now = perf_counter()
        with self._lock:
            self._seconds_per_image = WORTH * self._seconds_per_image + (1 - WORTH) * (now - self._since)
            self._since = now


def crew_for(duty: Duty, teacher: Encoder | None, *, max_queue: int, max_views: int) -> Crew:
    """What keeps the machine busy and answers soon.

    An answer waits for the batch that its views are in. Where a view costs the same in any batch and threads may encode
    at the same time, views are therefore encoded one by one, on every core. Other models get one thread and the batches
    that are fastest with them.
    """
    encoder = duty.encoder
    concurrent = all(isinstance(one, Concurrent) and one.concurrent for one in (encoder, teacher) if one is not None)
    if encoder.linear_cost and encoder.block_views == 1 and concurrent:
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        return Lanes(duty, lanes=max(FEWEST_LANES, cores))
    block = encoder.block_views or max_views
    return Batches(duty, batch_views=fastest_batch(encoder), block=block, most_open=2 * max_queue)
