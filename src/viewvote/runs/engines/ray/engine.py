"""The Ray engine: actors on one machine or many, each with its own model; this process alone writes the records.

The work is cut into shards. Only a shard's bounds travel to an actor, which opens the dataset where it runs, and only
its lines travel back, in order.
"""

import json
import logging
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from ....datasets import Card, add_cards
from ....datasets.catalog import added_cards
from ....errors import RunError, UsageError
from ....records.record import Record
from ...environment import environment_of
from ...job import Job, open_job
from ...shard import run_shard
from ...spec import RunSpec
from ..base import Environment
from .pool import ATTEMPTS, Pool

logger = logging.getLogger("viewvote")

SHARD = 32
"""Samples of a shard: enough for an actor to draw ahead, few to lose with it."""


@dataclass(frozen=True)
class RayEngine:
    """Runs on Ray.

    address         of a cluster ("auto", "head:6379"); None is RAY_ADDRESS, or else a Ray of its own
    actors          how many models at work at a time
    gpus_per_actor  the share of a GPU that each takes; 0.25 puts four on one
    cpus_per_actor  the cores that each takes, and the threads of an ONNX model in it
    wait_for_nodes  seconds after which a cluster without a node that has room for an actor is given up
    """

    address: str | None = None
    actors: int = 2
    gpus_per_actor: float = 0.0
    cpus_per_actor: float = 1.0
    wait_for_nodes: float = 600.0

    def check(self, job: Job) -> None:
        """A stream is one sequence: it cannot be cut."""
        if job.is_streaming:
            raise UsageError(
                f"method {job.spec.method!r} learns from one image to the next, so its run cannot be spread over "
                "actors; use --engine local."
            )

    def records(
        self, job: Job, stretches: Sequence[range], *, report: Callable[[Environment], None]
    ) -> Generator[tuple[int, Record], None, None]:
        """The positions in the stretches with their records, in order."""
        shards = _cut(stretches, SHARD)
        reported: set[str] = set()
        pool = Pool(
            self.address,
            actors=self.actors,
            cpus_per_actor=self.cpus_per_actor,
            gpus_per_actor=self.gpus_per_actor,
            wait_for_nodes=self.wait_for_nodes,
        )
        start = partial(_start, spec=job.spec, cards=added_cards(), threads=pool.threads)
        for outcome in pool.run(iter([shards]), start):
            bounds = outcome.task.start, outcome.task.stop - 1
            if outcome.lost:
                raise RunError(
                    f"a Ray actor cannot work: samples {bounds[0]} to {bounds[1]} were started {ATTEMPTS} times and "
                    "their actor died each time."
                )
            if outcome.attempt > 1:
                logger.warning("the worker of samples %d to %d died; they were computed again", *bounds)
            environment, lines = outcome.result
            if environment not in reported:
                reported.add(environment)
                report(json.loads(environment))
            for i, line in enumerate(lines):
                yield bounds[0] + i, Record.from_line(line)


def _start(*, spec: RunSpec, cards: Mapping[str, Card], threads: int) -> Callable[[range], tuple[str, list[str]]]:
    """What an actor does with a shard, once its model is loaded: its environment, and a line for each sample."""
    add_cards(cards)
    job = open_job(spec)
    classifier = job.classifier(threads=threads)
    environment = json.dumps(environment_of(classifier))

    def work(shard: range) -> tuple[str, list[str]]:
        records = run_shard(classifier, job.samples.items(shard), job=job)
        return environment, [record.to_line() for record in records]

    return work


def _cut(stretches: Sequence[range], size: int) -> list[range]:
    """The stretches in pieces of at most `size`."""
    return [
        range(start, min(start + size, stretch.stop))
        for stretch in stretches
        for start in range(stretch.start, stretch.stop, size)
    ]
