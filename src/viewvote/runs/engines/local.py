"""The local engine: one process, one model; the next images are drawn while the model works."""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from itertools import chain

from ...records.record import Record
from ..environment import environment_of
from ..job import Job
from ..shard import run_shard
from .base import Environment


@dataclass(frozen=True)
class LocalEngine:
    """Runs in this process. `threads` is for ONNX models; 0 is one per core."""

    threads: int = 0

    def check(self, job: Job) -> None:
        """It can do every job."""

    def records(
        self, job: Job, stretches: Sequence[range], *, report: Callable[[Environment], None]
    ) -> Generator[tuple[int, Record], None, None]:
        """The positions in the stretches with their records, in order."""
        classifier = job.classifier(threads=self.threads)
        report(environment_of(classifier))
        items = chain.from_iterable(map(job.samples.items, stretches))
        records = run_shard(classifier, items, job=job)
        yield from zip(chain.from_iterable(stretches), records, strict=True)
