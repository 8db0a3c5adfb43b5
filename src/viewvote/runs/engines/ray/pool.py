"""Actors of a Ray cluster that work off tasks, each with its own model; lost work is done again by others.

A task whose actor or node dies is given to another one. Ray Data sees to that, but at times waits for ever on what died
with a node: when all actors have fallen silent, what is left is started again with new ones. Where no node is left that
has room for an actor, that is reported, and waited for or given up.
"""

import logging
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from ....errors import RunError, ViewvoteError
from ....plugins import load_plugin, loaded_plugins
from .cluster import connected
from .ledger import Ledger
from .watched import Watched

logger = logging.getLogger("viewvote")

Task = TypeVar("Task")

ATTEMPTS = 6
"""How often a task is tried whose actors die: Ray itself would go round for ever with a sample that kills them all."""

PATIENCE = 60.0
"""Seconds without a sign of work, once it had started, after which the actors are given up."""


@dataclass(frozen=True)
class Outcome(Generic[Task]):
    """A task with what an actor made of it. `lost`: every attempt ended with its actor, and there is no result."""

    task: Task
    result: Any
    attempt: int
    lost: bool


@dataclass(frozen=True)
class Pool:
    """So many actors at a time.

    address         of a cluster ("auto", "head:6379"); None is RAY_ADDRESS, or else a Ray of its own
    wait_for_nodes  seconds after which a cluster without a node that has room for an actor is given up
    """

    address: str | None
    actors: int
    cpus_per_actor: float
    gpus_per_actor: float
    wait_for_nodes: float

    @property
    def threads(self) -> int:
        """The threads of an ONNX model in an actor."""
        return max(1, int(self.cpus_per_actor))

    def run(
        self, waves: Iterator[Sequence[Task]], start: Callable[[], Callable[[Task], Any]]
    ) -> Iterator[Outcome[Task]]:
        """The tasks of each wave in order, with what `start()`, called once in each actor, makes of them.

        Tasks and results are pickled, and so is `start`. The tasks of one wave at a time are in memory.
        """
        with connected(self.address) as ray:
            room = _Room(ray, {"CPU": self.cpus_per_actor, "GPU": self.gpus_per_actor}, wait=self.wait_for_nodes)
            room.check()
            for tasks in waves:
                yield from self._with_own_errors(ray, self._outcomes(ray, tasks, start, room))

    def _with_own_errors(self, ray: Any, outcomes: Iterator[Outcome[Task]]) -> Iterator[Outcome[Task]]:
        """The outcomes; an error that stops Ray is raised as RunError."""
        try:
            yield from outcomes
        except ray.exceptions.RayError as error:
            lines = str(error).strip().splitlines()
            raise RunError(
                f"Ray gave up: {lines[-1] if lines else type(error).__name__}. What was recorded is safe; the same "
                "command continues. `ray logs` has more."
            ) from error

    def _outcomes(
        self, ray: Any, tasks: Sequence[Task], start: Callable[[], Callable[[Task], Any]], room: "_Room"
    ) -> Iterator[Outcome[Task]]:
        """The outcomes in order, computed as they are read."""
        ledger = Ledger(ray)
        done = 0
        while done < len(tasks):
            pipeline = self._pipeline(ray, tasks, done, start, ledger)
            rows = Watched(pipeline, beats=ledger.beats, patience=PATIENCE, idle=room.watch)
            try:
                for row in rows:
                    if row["problem"]:
                        raise RunError(f"a Ray actor cannot work: {row['problem']}")
                    result = pickle.loads(row["result"])  # noqa: S301 - our own actor's
                    yield Outcome(tasks[row["number"]], result, row["attempt"], lost=row["lost"])
                    done += 1
            finally:
                if not rows.ended:
                    ledger.end_actors()
            if not rows.ended:
                logger.warning("the Ray actors fell silent; what is left is started again")

    def _pipeline(
        self, ray: Any, tasks: Sequence[Task], first: int, start: Callable[[], Callable[[Task], Any]], ledger: Ledger
    ) -> Iterator[dict[str, Any]]:
        """The rows of the tasks from `first` on, in order, from a pool of actors of its own."""
        context = ray.data.DataContext.get_current()
        context.execution_options.preserve_order = True
        context.enable_progress_bars = False
        logging.getLogger("ray.data").setLevel(logging.ERROR)
        left = [{"number": number, "task": pickle.dumps(tasks[number])} for number in range(first, len(tasks))]
        rows = ray.data.from_items(left, override_num_blocks=len(left)).map_batches(
            _Actor,
            fn_constructor_kwargs={
                "start": start,
                "plugins": loaded_plugins(),
                "ledger": ledger,
                "beat": PATIENCE / 12,
            },
            batch_size=1,
            num_cpus=self.cpus_per_actor,
            num_gpus=self.gpus_per_actor or None,
            compute=ray.data.ActorPoolStrategy(size=min(self.actors, len(left))),
        )
        yield from rows.iter_rows()


class _Actor:
    """A process of its own that works off tasks."""

    def __init__(
        self, *, start: Callable[[], Callable[[Any], Any]], plugins: Sequence[str], ledger: Ledger, beat: float
    ) -> None:
        self.ledger = ledger
        self.beat = beat
        self.problem = ""
        ledger.register()
        with ledger.at_work(beat=beat):
            try:
                for plugin in plugins:
                    load_plugin(plugin)
                self.work = start()
            except (
                ViewvoteError
            ) as error:  # reported by the first task: Ray would try a constructor that fails for ever
                self.problem = str(error)

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        with self.ledger.at_work(beat=self.beat):
            number = int(batch["number"][0])
            attempt = self.ledger.start_attempt(number)
            row = {
                "number": number,
                "attempt": attempt,
                "lost": attempt > ATTEMPTS,
                "problem": self.problem,
                "result": pickle.dumps(None),
            }
            if not row["lost"] and not self.problem:
                try:
                    result = self.work(pickle.loads(batch["task"][0]))  # noqa: S301 - our own driver's
                    row["result"] = pickle.dumps(result)
                except ViewvoteError as error:
                    row["problem"] = str(error)
        return {name: _column(value) for name, value in row.items()}


class _Room:
    """Whether any node has room for one actor."""

    def __init__(self, ray: Any, wanted: Mapping[str, float], *, wait: float) -> None:
        self._ray = ray
        self._wanted = wanted
        self._wait = wait
        self._missing_since: float | None = None

    def check(self) -> None:
        """Raise RunError where there is none: Ray would wait for ever."""
        nodes = self._nodes()
        if not self._has_room(nodes):
            kinds = {", ".join(f"{node.get(kind, 0):g} {kind}" for kind in self._wanted) for node in nodes}
            needs = " and ".join(f"{share:g} {kind}" for kind, share in self._wanted.items())
            raise RunError(
                f"an actor needs {needs}, but no node of the Ray cluster has that (they have "
                f"{'; '.join(sorted(kinds))}). Ask for less per actor, or add nodes."
            )

    def watch(self) -> None:
        """Report that there is none any more, or again; raise RunError after `wait` seconds without."""
        if self._has_room(self._nodes()):
            if self._missing_since is not None:
                logger.warning("the Ray cluster has room for an actor again")
            self._missing_since = None
        elif self._missing_since is None:
            self._missing_since = monotonic()
            logger.warning("no node of the Ray cluster has room for an actor any more; waiting %g seconds", self._wait)
        elif monotonic() - self._missing_since >= self._wait:
            raise RunError(
                f"gave up: for {self._wait:g} seconds no node of the Ray cluster had room for an actor. What was "
                "recorded is safe; the same command continues."
            )

    def _nodes(self) -> list[dict[str, float]]:
        return [node["Resources"] for node in self._ray.nodes() if node["Alive"]]

    def _has_room(self, nodes: list[dict[str, float]]) -> bool:
        return any(all(node.get(kind, 0) >= share for kind, share in self._wanted.items()) for node in nodes)


def _column(value: object) -> NDArray[np.object_]:
    """A column of one row."""
    column = np.empty(1, dtype=object)
    column[0] = value
    return column
