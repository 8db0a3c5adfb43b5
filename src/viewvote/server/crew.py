"""Threads that answer jobs, and what a crew of them needs to know."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Lock, Thread

from ..encoders import Encoder
from .features import FeatureCache
from .job import Job

PATIENCE = 10.0
"""Seconds that closing waits for a thread: a decoder cannot be interrupted."""


@dataclass(frozen=True)
class Duty:
    """What a crew works with, and whom it reports to: `encoded` the views of every call, `answered` every answer."""

    encoder: Encoder
    features: FeatureCache
    encoded: Callable[[int], None]
    answered: Callable[[], None]


class Crew(ABC):
    """Threads that answer jobs until they are told to end; subclasses add theirs to `_threads`."""

    def __init__(self, duty: Duty) -> None:
        self._duty = duty
        self._lock = Lock()
        self._closed = False
        self._threads: list[Thread] = []

    def start(self) -> None:
        """Start the threads."""
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """End the threads once every job has its answer."""
        with self._lock:
            self._closed = True
            self._wake()
        for thread in self._threads:
            thread.join(PATIENCE)

    @property
    def alive(self) -> bool:
        """Whether jobs are answered."""
        return not self._closed and all(thread.is_alive() for thread in self._threads)

    @property
    @abstractmethod
    def waiting(self) -> int:
        """Jobs whose preparation has not started."""

    @abstractmethod
    def submit(self, jobs: Sequence[Job]) -> None:
        """Queue jobs; each delivers its outcome."""

    @abstractmethod
    def _wake(self) -> None:
        """Wake every thread, for there is no more work to wait for; called with the lock."""
