"""The seam of engines: who computes the records, and where."""

from collections.abc import Callable, Generator, Sequence
from typing import Any, Protocol

from ...records.record import Record
from ..job import Job

Environment = dict[str, Any]


class Engine(Protocol):
    """Computes records by `run_shard`; the run writes them."""

    def check(self, job: Job) -> None:
        """Raise UsageError for a job that it cannot do, before anything is loaded."""
        ...

    def records(
        self, job: Job, stretches: Sequence[range], *, report: Callable[[Environment], None]
    ) -> Generator[tuple[int, Record], None, None]:
        """The positions in the stretches with their records, in order.

        `report` is called with the environment of a worker before the first record it computed.
        """
        ...
