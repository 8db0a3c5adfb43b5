"""A table from its first piece to its last: continued where it stopped, whichever engine answers."""

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Protocol

from ..errors import RunError
from ..runs.environment import environment_of
from ..sources.piece import digest_of
from .job import BulkJob
from .output import Finished, Table, other_images
from .parts import Step, Task, answer_pieces

logger = logging.getLogger("viewvote")


@dataclass(frozen=True)
class Totals:
    """How many rows a table has, how many of them are errors, and how many were finished before this call."""

    images: int = 0
    errors: int = 0
    before: int = 0

    def to_dict(self) -> dict[str, int]:
        """The totals as the manifest has them."""
        return {"images": self.images, "errors": self.errors}


class BulkEngine(Protocol):
    """Answers pieces and writes their parts."""

    def check(self, job: BulkJob) -> None:
        """Raise UsageError for a job that it cannot do."""
        ...

    def steps(
        self, job: BulkJob, table: Table, tasks: Iterator[Task], *, report: Callable[[dict[str, Any]], None]
    ) -> Iterator[Step]:
        """What is written, as it is; `report` is called with the environment of each worker."""
        ...


@dataclass(frozen=True)
class LocalBulk:
    """This process answers. `threads` is for ONNX models; 0 is one per core."""

    threads: int = 0

    def check(self, job: BulkJob) -> None:
        """It can do every job."""

    def steps(
        self, job: BulkJob, table: Table, tasks: Iterator[Task], *, report: Callable[[dict[str, Any]], None]
    ) -> Iterator[Step]:
        """What is written, as it is."""
        classifier = job.recipe.classifier(threads=self.threads)
        report(environment_of(classifier))
        yield from answer_pieces(
            classifier, tasks, table, part_images=job.part_images, top=job.top, batch_views=job.batch_views
        )


def classify_bulk(
    job: BulkJob,
    *,
    engine: BulkEngine | None = None,
    overwrite: bool = False,
    watch: Callable[[Totals], None] | None = None,
) -> Totals:
    """Make the table, or what is missing of it; the same call continues after any interruption.

    Args:
        job: What to make.
        engine: Who answers; None is this process.
        overwrite: Make it anew where it was begun before.
        watch: Called with the totals after every part.
    """
    chosen = engine or LocalBulk()
    job.recipe.check()
    chosen.check(job)
    table = Table(job.output, job.schema)
    with table.held():
        if overwrite:
            table.clear()
        table.settle(job.settings())
        return _complete(job, chosen, table, watch or _ignore)


def _complete(job: BulkJob, engine: BulkEngine, table: Table, watch: Callable[[Totals], None]) -> Totals:
    plan = _Plan(job, table.finished())
    count = _Count(plan.before)
    tasks = plan.missing()
    first = next(tasks, None)
    if first is not None:  # else no model is loaded

        def report(environment: dict[str, Any]) -> None:
            for change in table.settle_environment(environment):
                logger.info("differs from the manifest: %s", change)

        for step in engine.steps(job, table, chain([first], tasks), report=report):
            count.add(step)
            watch(count.totals)
    plan.check_end()
    table.conclude(count.totals.to_dict())
    return count.totals


class _Plan:
    """The pieces of the source, compared with those that are finished."""

    def __init__(self, job: BulkJob, before: dict[int, Finished]) -> None:
        self.before = before
        self._job = job
        self._pieces = 0

    def missing(self) -> Iterator[Task]:
        """The pieces that are not finished; raises RunError where a finished one was another."""
        for number, piece in enumerate(self._job.source.pieces(self._job.part_images)):
            self._pieces = number + 1
            done = self.before.get(number)
            if done is None:
                yield Task(number, piece)
            elif done.digest != digest_of(piece):
                raise self._changed(f"piece {number} is now {piece.name} and was another")

    def check_end(self) -> None:
        """Raise RunError where pieces were finished that are not there any more."""
        if self.before and max(self.before) >= self._pieces:
            raise self._changed(f"there were {max(self.before) + 1} pieces or more and are now {self._pieces}")

    def _changed(self, what: str) -> RunError:
        return other_images(self._job.output, what)


class _Count:
    """Counts rows as they are written; a piece that was begun before counts whole when it is finished."""

    def __init__(self, before: dict[int, Finished]) -> None:
        self.totals = Totals(sum(one.rows for one in before.values()), sum(one.errors for one in before.values()))
        self.totals = replace(self.totals, before=self.totals.images)
        self._counted: dict[int, tuple[int, int]] = {}

    def add(self, step: Step) -> None:
        """Count a step."""
        images, errors = self._counted.pop(step.number, (0, 0))
        if step.finished is None:
            self._counted[step.number] = images + step.images, errors + step.errors
            self._raise(step.images, step.errors)
        else:
            self._raise(step.finished.rows - images, step.finished.errors - errors)

    def _raise(self, images: int, errors: int) -> None:
        self.totals = replace(self.totals, images=self.totals.images + images, errors=self.totals.errors + errors)


def _ignore(totals: Totals) -> None:
    del totals
