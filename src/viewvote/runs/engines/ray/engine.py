"""The Ray engine: actors on one machine or many, each with its own model; this process alone writes the records.

The work is cut into shards. Only a shard's bounds travel to an actor, which opens the dataset where it
runs, and only its lines travel back, in order. A shard whose actor or node dies is computed again by another one.
Ray Data sees to that, but at times waits for ever on what died with a node: when all actors have fallen silent, what
is left is started again with new ones.
"""

import json
import logging
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....datasets import Card, add_cards
from ....datasets.catalog import added_cards
from ....errors import RunError, UsageError, ViewvoteError
from ....plugins import load_plugin, loaded_plugins
from ....records.record import Record
from ...environment import environment_of
from ...job import Job, open_job
from ...shard import run_shard
from ...spec import RunSpec
from ..base import Environment
from .cluster import connected
from .ledger import Ledger
from .watched import Watched

logger = logging.getLogger("viewvote")

ATTEMPTS = 6
"""How often a shard is tried whose actors die: Ray itself would go round for ever with a sample that kills them all."""

SHARD = 32
"""Samples of a shard: enough for an actor to draw ahead, few to lose with it."""

PATIENCE = 60.0
"""Seconds without a sign of work, once it had started, after which the actors are given up."""


@dataclass(frozen=True)
class RayEngine:
    """Runs on Ray.

    address         of a cluster ("auto", "head:6379"); None is RAY_ADDRESS, or else a Ray of its own
    actors          how many models at work at a time
    gpus_per_actor  the share of a GPU that each takes; 0.25 puts four on one
    cpus_per_actor  the cores that each takes, and the threads of an ONNX model in it
    """

    address: str | None = None
    actors: int = 2
    gpus_per_actor: float = 0.0
    cpus_per_actor: float = 1.0

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
        with connected(self.address) as ray:
            self._check_room([node["Resources"] for node in ray.nodes() if node["Alive"]])
            for row in _with_own_errors(ray, self._rows(ray, job, shards)):
                if row["error"]:
                    raise RunError(f"a Ray actor cannot work: {row['error']}")
                if row["attempt"] > 1:
                    logger.warning("the worker of samples %d to %d died; they were computed again", *row["bounds"])
                if row["environment"] not in reported:
                    reported.add(row["environment"])
                    report(json.loads(row["environment"]))
                for i, line in enumerate(row["lines"]):
                    yield row["bounds"][0] + i, Record.from_line(line)

    def _check_room(self, nodes: list[dict[str, float]]) -> None:
        """Raise RunError where no node has room for one actor: Ray would wait for ever."""
        wanted = {"CPU": self.cpus_per_actor, "GPU": self.gpus_per_actor}
        if not any(all(node.get(kind, 0) >= share for kind, share in wanted.items()) for node in nodes):
            kinds = {", ".join(f"{node.get(kind, 0):g} {kind}" for kind in wanted) for node in nodes}
            raise RunError(
                f"an actor needs {self.cpus_per_actor:g} CPU and {self.gpus_per_actor:g} GPU, but no node of the Ray "
                f"cluster has that (they have {'; '.join(sorted(kinds))}). Ask for less per actor, or add nodes."
            )

    def _rows(self, ray: Any, job: Job, shards: list[range]) -> Iterator[dict[str, Any]]:
        """The shards' rows in order, computed as they are read."""
        ledger = Ledger(ray)
        done = 0
        while done < len(shards):
            rows = Watched(self._pipeline(ray, job, shards[done:], ledger), beats=ledger.beats, patience=PATIENCE)
            try:
                for row in rows:
                    yield row
                    done += 1
            finally:
                if not rows.ended:
                    ledger.end_actors()
            if not rows.ended:
                logger.warning(
                    "the Ray actors fell silent; what is left is started again at sample %d", shards[done].start
                )

    def _pipeline(self, ray: Any, job: Job, shards: list[range], ledger: Ledger) -> Iterator[dict[str, Any]]:
        """The shards' rows in order, from a pool of actors of its own."""
        context = ray.data.DataContext.get_current()
        context.execution_options.preserve_order = True
        context.enable_progress_bars = False
        logging.getLogger("ray.data").setLevel(logging.ERROR)
        bounds = [{"start": shard.start, "stop": shard.stop} for shard in shards]
        rows = ray.data.from_items(bounds, override_num_blocks=len(bounds)).map_batches(
            _Actor,
            fn_constructor_kwargs={
                "spec": job.spec,
                "cards": added_cards(),
                "plugins": loaded_plugins(),
                "threads": max(1, int(self.cpus_per_actor)),
                "ledger": ledger,
                "beat": PATIENCE / 12,
            },
            batch_size=1,
            num_cpus=self.cpus_per_actor,
            num_gpus=self.gpus_per_actor or None,
            compute=ray.data.ActorPoolStrategy(size=min(self.actors, len(bounds))),
        )
        yield from rows.iter_rows()


class _Actor:
    """A model at work in a process of its own."""

    def __init__(
        self,
        *,
        spec: RunSpec,
        plugins: Sequence[str],
        cards: Mapping[str, Card],
        threads: int,
        ledger: Ledger,
        beat: float,
    ) -> None:
        self.ledger = ledger
        self.beat = beat
        self.problem = ""
        ledger.register()
        with ledger.at_work(beat=beat):
            try:
                for plugin in plugins:
                    load_plugin(plugin)
                add_cards(cards)
                self.job = open_job(spec)
                self.classifier = self.job.classifier(threads=threads)
                self.environment = json.dumps(environment_of(self.classifier))
            except (
                ViewvoteError
            ) as error:  # reported by the first shard: Ray would try a constructor that fails for ever
                self.problem = str(error)

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        shard = range(int(batch["start"][0]), int(batch["stop"][0]))
        with self.ledger.at_work(beat=self.beat):
            row = self._row(shard, self.ledger.start_attempt(shard.start))
        return {name: _column(value) for name, value in row.items()}

    def _row(self, shard: range, attempt: int) -> dict[str, Any]:
        row: dict[str, Any] = {
            "bounds": [shard.start, shard.stop - 1],
            "attempt": attempt,
            "error": self.problem,
            "environment": "",
            "lines": [],
        }
        if attempt > ATTEMPTS:
            which = f"samples {shard.start} to {shard.stop - 1}"
            row["error"] = f"{which} were started {ATTEMPTS} times and their actor died each time."
        if not row["error"]:
            records = run_shard(self.classifier, self.job.samples.items(shard), job=self.job)
            row |= {"environment": self.environment, "lines": [record.to_line() for record in records]}
        return row


def _column(value: object) -> NDArray[np.object_]:
    """A column of one row."""
    column = np.empty(1, dtype=object)
    column[0] = value
    return column


def _cut(stretches: Sequence[range], size: int) -> list[range]:
    """The stretches in pieces of at most `size`."""
    return [
        range(start, min(start + size, stretch.stop))
        for stretch in stretches
        for start in range(stretch.start, stretch.stop, size)
    ]


def _with_own_errors(ray: Any, rows: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The rows; an error that stops Ray is raised as RunError."""
    try:
        yield from rows
    except ray.exceptions.RayError as error:
        lines = str(error).strip().splitlines()
        raise RunError(
            f"Ray gave up: {lines[-1] if lines else type(error).__name__}. What was recorded is safe; the same command "
            "continues. `ray logs` has more."
        ) from error
