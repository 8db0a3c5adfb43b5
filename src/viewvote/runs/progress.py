"""How far a run is: running accuracy, images per second, time left."""

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic


@dataclass(frozen=True)
class Progress:
    """One moment of a run. `computed` of the `done` samples were computed by this process, in `seconds`."""

    done: int
    total: int
    correct: int
    errors: int
    computed: int
    seconds: float

    @property
    def accuracy(self) -> float | None:
        """The share of right answers among the usable samples so far."""
        usable = self.done - self.errors
        return self.correct / usable if usable else None

    @property
    def rate(self) -> float | None:
        """Images per second of this process."""
        return self.computed / self.seconds if self.computed and self.seconds > 0 else None

    @property
    def seconds_left(self) -> float | None:
        """The time the rest takes at this rate."""
        return (self.total - self.done) / self.rate if self.rate else None

    def __str__(self) -> str:
        parts = [f"{self.done}/{self.total} images"]
        if self.accuracy is not None:
            parts.append(f"accuracy {self.accuracy:.2%}")
        if self.errors:
            parts.append(f"{self.errors} errors")
        if self.rate is not None and self.seconds_left is not None:
            minutes, seconds = divmod(round(self.seconds_left), 60)
            parts.append(f"{self.rate:.2f} images/s, {minutes // 60}:{minutes % 60:02}:{seconds:02} left")
        return ", ".join(parts)


Watch = Callable[[Progress], None]


class Meter:
    """Counts a run's records and calls a watcher after each."""

    def __init__(self, *, total: int, done: int, correct: int, errors: int, watch: Watch) -> None:
        self._total, self._done, self._correct, self._errors = total, done, correct, errors
        self._computed = 0
        self._start = monotonic()
        self._watch = watch

    def now(self) -> Progress:
        """This moment."""
        spent = monotonic() - self._start
        return Progress(self._done, self._total, self._correct, self._errors, self._computed, spent)

    def step(self, *, correct: bool, failed: bool) -> Progress:
        """Count one more record and call the watcher."""
        self._done += 1
        self._computed += 1
        self._correct += correct
        self._errors += failed
        moment = self.now()
        self._watch(moment)
        return moment
