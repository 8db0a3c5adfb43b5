"""Tables made by the actors of a Ray cluster: each reads pieces where it runs and writes their parts itself."""

import logging
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from ..runs.engines.ray.pool import ATTEMPTS, Pool
from ..runs.environment import environment_of
from ..sources.address import is_address
from ..sources.files import FilesPiece
from .job import BulkJob
from .output import Table
from .parts import Step, Task, answer_pieces, lose_piece

logger = logging.getLogger("viewvote")

WAVE_PIECES = 2000
WAVE_FILES = 500_000
"""Pieces, and names of single files, that are handed to Ray at a time: no listing is ever in memory whole."""


@dataclass(frozen=True)
class RayBulk:
    """Answers on Ray.

    address         of a cluster ("auto", "head:6379"); None is RAY_ADDRESS, or else a Ray of its own
    actors          how many models at work at a time
    cpus_per_actor  the cores that each takes, and the threads of an ONNX model in it
    gpus_per_actor  the share of a GPU that each takes; 0.25 puts four on one
    wait_for_nodes  seconds after which a cluster without a node that has room for an actor is given up
    """

    address: str | None = None
    actors: int = 2
    cpus_per_actor: float = 1.0
    gpus_per_actor: float = 0.0
    wait_for_nodes: float = 600.0

    def check(self, job: BulkJob) -> None:
        """It can do every job."""

    def steps(
        self, job: BulkJob, table: Table, tasks: Iterator[Task], *, report: Callable[[dict[str, Any]], None]
    ) -> Iterator[Step]:
        """What is written, a piece at a time."""
        pool = Pool(
            self.address,
            actors=self.actors,
            cpus_per_actor=self.cpus_per_actor,
            gpus_per_actor=self.gpus_per_actor,
            wait_for_nodes=self.wait_for_nodes,
        )
        there = table if is_address(table.place) else replace(table, place=str(Path(table.place).resolve()))
        start = partial(_start, job=job, table=there, folder=str(Path.cwd()), threads=pool.threads)
        reported: list[dict[str, Any]] = []
        for outcome in pool.run(_waves(tasks), start):
            name = outcome.task.piece.name
            if outcome.lost:
                done = table.finished().get(outcome.task.number)
                if done is not None:  # its last worker died behind its end
                    yield Step(outcome.task.number, 0, 0, done)
                    continue
                reason = f"it was started {ATTEMPTS} times and its worker died each time"
                logger.warning("%s: %s", name, reason)
                yield from lose_piece(outcome.task, table, f"{reason}.", part_images=job.part_images)
                continue
            if outcome.attempt > 1:
                logger.warning("the worker of %s died; another one went on with it", name)
            environment, steps = outcome.result
            if environment not in reported:
                reported.append(environment)
                report(environment)
            yield from steps


def _waves(tasks: Iterator[Task]) -> Iterator[list[Task]]:
    """The tasks, so many at a time as may be in memory."""
    wave: list[Task] = []
    files = 0
    for task in tasks:
        wave.append(task)
        files += len(task.piece.entries) if isinstance(task.piece, FilesPiece) else 1
        if len(wave) >= WAVE_PIECES or files >= WAVE_FILES:
            yield wave
            wave, files = [], 0
    if wave:
        yield wave


def _start(
    *, job: BulkJob, table: Table, folder: str, threads: int
) -> Callable[[Task], tuple[dict[str, Any], list[Step]]]:
    """What an actor does with a piece, once its model is loaded."""
    if Path(folder).is_dir():
        os.chdir(folder)  # relative paths mean the same as where the command was given
    classifier = job.recipe.classifier(threads=threads)
    environment = environment_of(classifier)

    def work(task: Task) -> tuple[dict[str, Any], list[Step]]:
        steps = answer_pieces(
            classifier, [task], table, part_images=job.part_images, top=job.top, batch_views=job.batch_views
        )
        return environment, list(steps)

    return work
