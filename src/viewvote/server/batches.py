"""A crew for models that are fastest in batches: images are prepared ahead and share batches of views."""

import logging
from collections import deque
from collections.abc import Iterator, Sequence
from threading import Condition, Thread

from ..arrays import Float32, UInt8
from ..classify.prefetch import PREPARING
from ..classify.scheduler import Scheduler, encode_units
from ..errors import ModelError
from .crew import Crew, Duty
from .job import Job, Outcome

logger = logging.getLogger("viewvote.server")


class Batches(Crew):
    """Some threads prepare images, one runs a scheduler over those that are ready.

    Only enough images for two batches are decoded and drawn. Which images share a batch has no influence on any answer
    (`Scheduler`).
    """

    def __init__(self, duty: Duty, *, batch_views: int, block: int, most_open: int) -> None:
        super().__init__(duty)
        self._batch_views = batch_views
        self._block = block
        self._most_open = most_open
        self._to_prepare, self._to_encode = Condition(self._lock), Condition(self._lock)  # each wakes whom it concerns
        self._waiting: deque[Job] = deque()
        self._ready: deque[Job] = deque()
        self._preparing: list[Job] = []
        self._given: set[Job] = set()  # to the scheduler, and not answered
        self._threads = [
            Thread(target=self._prepare, name=f"viewvote-prepare-{i}", daemon=True) for i in range(PREPARING)
        ]
        self._threads.append(Thread(target=self._work, name="viewvote-engine", daemon=True))

    @property
    def waiting(self) -> int:
        """Jobs whose preparation has not started."""
        return len(self._waiting)

    def submit(self, jobs: Sequence[Job]) -> None:
        """Queue jobs; each delivers its outcome."""
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
                self._wake_at_the_end()
                if job.answer is not None:
                    continue
                self._preparing.append(job)
            wanting = job.prepare(self._duty.features)
            with self._lock:
                self._preparing.remove(job)
                self._wake_at_the_end()
                if wanting:
                    self._ready.append(job)
                    self._to_encode.notify()
                else:
                    self._to_prepare.notify()  # its place is free

    def _wake(self) -> None:
        self._to_prepare.notify_all()
        self._to_encode.notify_all()

    def _wake_at_the_end(self) -> None:
        """Wake those who wait for work that will not come any more."""
        if self._finished:
            self._wake()

    def _wants_more(self) -> bool:
        ahead = [*self._preparing, *self._ready]
        return len(ahead) <= PREPARING or sum(job.first_views for job in ahead) < 2 * self._batch_views

    @property
    def _finished(self) -> bool:
        return self._closed and not self._waiting

    def _work(self) -> None:
        """What the encoding thread does: schedulers, one after the other if a model fails."""
        while not (self._finished and not self._ready and not self._preparing):
            scheduler: Scheduler[Outcome] = Scheduler(self._encode, batch_views=self._batch_views, block=self._block)
            self._given.clear()
            try:
                for _ in scheduler.run(self._source(), most_open=self._most_open):
                    self._duty.answered()
            except Exception as error:
                logger.exception("the model failed; the images in its batch get an error")
                for job in list(self._given):
                    job.finish(ModelError(f"the model failed: {type(error).__name__}."))

    def _source(self) -> Iterator[Job | None]:
        """The jobs that are ready; None while there is none but others are under way."""
        given = self._given
        while True:
            given -= {job for job in given if job.answer is not None}
            with self._lock:
                if not given:
                    self._to_encode.wait_for(lambda: self._ready or (self._finished and not self._preparing))
                    if not self._ready:
                        return
                job = self._ready.popleft() if self._ready else None
                if job is not None:
                    self._to_prepare.notify()  # there is room for another
            if job is not None and job.answer is None:
                given.add(job)
            yield job

    def _encode(self, units: Sequence[UInt8]) -> list[Float32]:
        self._duty.encoded(sum(map(len, units)))
        return encode_units(self._duty.encoder)(units)
