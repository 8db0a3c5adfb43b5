"""One encoder, one bounded queue: images of all requests are prepared ahead and share batches of views."""

import logging
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import ceil
from threading import Condition, Lock, Thread
from time import perf_counter

from ..arrays import Float32, UInt8
from ..classify.prefetch import PREPARING
from ..classify.scheduler import Scheduler, encode_units
from ..encoders import Encoder
from ..errors import ModelError
from .features import FeatureCache
from .job import Job, Outcome
from .lanes import Lanes, lanes_for
from .refusals import RefusedError

logger = logging.getLogger("viewvote.server")

WORTH = 0.9
"""How much of the running mean of seconds per image the past is worth."""


PATIENCE = 10.0
"""Seconds that closing waits for a thread: a decoder cannot be interrupted."""


class Engine:
    """Threads that answer jobs: some prepare images, others (`Lanes`) each run a scheduler over those that are ready.

    Images under way are at most `max_queue`, of which only enough for two batches of each scheduler are decoded and
    drawn. Which images share a batch has no influence on any answer (`Scheduler`).
    """

    def __init__(
        self, encoder: Encoder, features: FeatureCache, *, max_queue: int, max_views: int, lanes: Lanes | None = None
    ) -> None:
        self._encoder = encoder
        self._features = features
        self._max_queue = max_queue
        self._lanes = lanes or lanes_for(encoder)
        self._block = encoder.block_views or max_views
        self._lock = Lock()
        self._to_prepare, self._to_encode = Condition(self._lock), Condition(self._lock)  # each wakes whom it concerns
        self._waiting: deque[Job] = deque()
        self._ready: deque[Job] = deque()
        self._preparing: list[Job] = []
        self._given: list[set[Job]] = [set() for _ in range(self._lanes.count)]  # to a scheduler, and not answered
        self._admitted = 0
        self._closed = False
        self._seconds_per_image = 0.05
        self._since = perf_counter()  # when the engine last answered, or woke up
        self.on_batch: Callable[[int], None] = lambda _: None
        self._threads = [
            Thread(target=self._prepare, name=f"viewvote-prepare-{i}", daemon=True) for i in range(PREPARING)
        ]
        self._threads += [
            Thread(target=self._work, args=(given,), name=f"viewvote-engine-{i}", daemon=True)
            for i, given in enumerate(self._given)
        ]

    def start(self) -> None:
        """Start the threads."""
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """End the threads once every job has its answer."""
        with self._lock:
            self._closed = True
            self._wake_all_at_the_end()
        for thread in self._threads:
            thread.join(PATIENCE)

    @property
    def alive(self) -> bool:
        """Whether jobs are answered."""
        return not self._closed and all(thread.is_alive() for thread in self._threads)

    @property
    def admitted(self) -> int:
        """Images of requests that are not answered yet."""
        return self._admitted

    @property
    def waiting(self) -> int:
        """Images whose preparation has not started."""
        return len(self._waiting)

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
            self._admitted += count
        try:
            yield
        finally:
            with self._lock:
                self._admitted -= count

    def submit(self, jobs: Sequence[Job]) -> None:
        """Queue jobs for which there are places; each delivers its outcome."""
        with self._lock:
            self._waiting.extend(jobs)
            self._to_prepare.notify(len(jobs))

    def _prepare(self) -> None:
        """What a preparing thread does: the next image, whenever the scheduler may soon want it."""
        while True:
            with self._lock:
                self._to_prepare.wait_for(lambda: (self._waiting and self._wants_more()) or self._finished)
                if not self._waiting:
                    return
                job = self._waiting.popleft()
                self._wake_all_at_the_end()
                if job.answer is not None:
                    continue
                self._preparing.append(job)
            wanting = job.prepare(self._features)
            with self._lock:
                self._preparing.remove(job)
                self._wake_all_at_the_end()
                if wanting:
                    self._ready.append(job)
                    self._to_encode.notify()
                else:
                    self._to_prepare.notify()  # its place is free

    def _wake_all_at_the_end(self) -> None:
        """Wake those who wait for work that will not come any more."""
        if self._finished:
            self._to_prepare.notify_all()
            self._to_encode.notify_all()

    def _wants_more(self) -> bool:
        ahead = [*self._preparing, *self._ready]
        enough = 2 * self._lanes.count * self._lanes.batch_views
        return len(ahead) <= PREPARING or sum(job.first_views for job in ahead) < enough

    @property
    def _finished(self) -> bool:
        return self._closed and not self._waiting

    def _work(self, given: set[Job]) -> None:
        """What an encoding thread does: schedulers, one after the other if a model fails."""
        size = self._lanes.batch_views
        while not (self._finished and not self._ready and not self._preparing):
            scheduler: Scheduler[Outcome] = Scheduler(self._encode, batch_views=size, block=self._block)
            given.clear()
            try:
                for _ in scheduler.run(self._source(given), most_open=2 * self._max_queue):
                    self._note_answer()
            except Exception as error:
                logger.exception("the model failed; the images in its batch get an error")
                for job in list(given):
                    job.finish(ModelError(f"the model failed: {type(error).__name__}."))

    def _source(self, given: set[Job]) -> Iterator[Job | None]:
        """The jobs that are ready; None while there is none but others are under way."""
        while True:
            given -= {job for job in given if job.answer is not None}
            with self._lock:
                if not given:
                    self._to_encode.wait_for(lambda: self._ready or (self._finished and not self._preparing))
                    if not self._ready:
                        return
                    if not any(self._given):  # nobody was at work
                        self._since = perf_counter()
                job = self._ready.popleft() if self._ready else None
                if job is not None:
                    self._to_prepare.notify()  # there is room for another
            if job is not None and job.answer is None:
                given.add(job)
            yield job

    def _encode(self, units: Sequence[UInt8]) -> list[Float32]:
        self.on_batch(sum(map(len, units)))
        return encode_units(self._encoder)(units)

    def _note_answer(self) -> None:
        now = perf_counter()
        self._seconds_per_image = WORTH * self._seconds_per_image + (1 - WORTH) * (now - self._since)
        self._since = now
