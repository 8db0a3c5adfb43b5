"""A crew for models with which a view costs the same in any batch: a thread per core, each a view at a time."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from heapq import heappop, heappush, heapreplace
from itertools import count
from threading import Condition, Thread
from time import perf_counter

import numpy as np

from ..arrays import Float32
from ..errors import ModelError
from .crew import Crew, Duty
from .job import Job

logger = logging.getLogger("viewvote.server")

OPEN_PER_LANE = 2
"""Images under way for each thread: enough that short ones overtake long ones, and few are held in memory."""

APART = 0.02
"""Seconds by which each further image of a request lets images of later requests go first."""

PACE = 1.7
"""An image is due one view in as many times the seconds that a view takes, counted from when it came."""

WORTH = 0.9
"""How much of the running mean of seconds per view the past is worth."""


@dataclass(eq=False)
class Round:
    """The views that an image wants at the moment: how many nobody has taken yet, and what is there of the others."""

    job: Job
    views: range
    taken: int = 0
    left: int = field(init=False)
    rows: list[Float32 | None] = field(init=False)
    seconds: float = 0.0

    def __post_init__(self) -> None:
        self.left = len(self.views)
        self.rows = [None] * self.left


class Lanes(Crew):
    """Threads that each do the next step there is: prepare an image, or draw and encode one view of it.

    The next step is that of the image which is due first. It is due when it comes, and with every view that it has had
    a little later: so photos that few views settle do not wait for all views of another, those that need many are not
    put off for ever, and one alone has all cores. No step waits for another thread.
    """

    def __init__(self, duty: Duty, *, lanes: int) -> None:
        super().__init__(duty)
        self._steps = Condition(self._lock)
        self._waiting: list[tuple[float, int, Job]] = []  # a heap: when it is due, a number for ties
        self._rounds: list[tuple[float, int, Round]] = []  # another, of rounds with views that nobody has taken
        self._numbers = count()
        self._open = 0
        self._most_open = OPEN_PER_LANE * lanes
        self._pace = 0.0
        self._threads = [Thread(target=self._work, name=f"viewvote-lane-{i}", daemon=True) for i in range(lanes)]

    @property
    def waiting(self) -> int:
        """Jobs whose preparation has not started."""
        return len(self._waiting)

    def submit(self, jobs: Sequence[Job]) -> None:
        """Queue jobs; each delivers its outcome."""
        with self._lock:
            for i, job in enumerate(jobs):
                heappush(self._waiting, (job.submitted + APART * i, next(self._numbers), job))
            self._steps.notify(len(jobs))

    def _wake(self) -> None:
        self._steps.notify_all()

    def _work(self) -> None:
        while (step := self._next()) is not None:
            step()

    def _next(self) -> Callable[[], None] | None:
        """The next step, as soon as there is one; None in the end."""
        with self._lock:
            while True:
                if self._starts():
                    *_, job = heappop(self._waiting)
                    if job.answer is None:
                        self._open += 1
                        return partial(self._prepare, job)
                elif self._rounds:
                    return partial(self._encode, *self._take())
                elif self._closed and not self._open:
                    self._wake()
                    return None
                else:
                    self._steps.wait()

    def _starts(self) -> bool:
        """Whether the next step is to prepare an image."""
        if not self._waiting or self._open == self._most_open:
            return False
        return not self._rounds or self._waiting[0] < self._rounds[0][:2]

    def _take(self) -> tuple[Round, int]:
        """A view of the image that is due first."""
        due, number, turn = self._rounds[0]
        place = turn.taken
        turn.taken += 1
        if turn.taken < len(turn.views):
            heapreplace(self._rounds, (due + self._pace, number, turn))
        else:
            heappop(self._rounds)
        return turn, place

    def _prepare(self, job: Job) -> None:
        job.prepare(self._duty.features, on_demand=True)
        self._go_on(job)

    def _encode(self, turn: Round, place: int) -> None:
        """Draw and encode a view; whoever has the last one of the round lets the image decide."""
        job, start = turn.job, perf_counter()
        row, seconds = None, 0.0
        if job.answer is None:
            try:
                pixels = job.views(turn.views[place], turn.views[place] + 1)
                start = perf_counter()
                row = self._duty.encoder.encode_images(pixels)
                self._duty.encoded(1)
            except Exception as error:
                logger.exception("the model failed; its image gets an error")
                job.finish(ModelError(f"the model failed: {type(error).__name__}."))
            seconds = perf_counter() - start
        with self._lock:
            turn.rows[place] = row
            turn.seconds += seconds
            self._pace = WORTH * self._pace + (1 - WORTH) * PACE * seconds
            turn.left -= 1
            if turn.left:
                return
        rows = [row for row in turn.rows if row is not None]
        if job.answer is None:
            job.receive(rows[0] if len(rows) == 1 else np.concatenate(rows), turn.seconds)
        self._go_on(job)

    def _go_on(self, job: Job) -> None:
        """Queue what the image wants next, or free its place."""
        wanted = job.wanted
        with self._lock:
            if job.answer is None and wanted:
                due = job.submitted + wanted.start * self._pace
                heappush(self._rounds, (due, next(self._numbers), Round(job, wanted)))
                self._steps.notify(len(wanted) - 1)  # the first may be this thread's own
                return
            self._open -= 1
            if self._closed:
                self._wake()
        self._duty.answered()
