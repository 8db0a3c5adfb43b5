"""Full batches for the encoder, made of views from many images, each of which may want more views later."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from itertools import pairwise
from time import perf_counter
from typing import Generic, Protocol, TypeVar

import numpy as np

from ..arrays import Float32, UInt8
from ..encoders import Encoder

Answer = TypeVar("Answer")
Answer_co = TypeVar("Answer_co", covariant=True)
Encode = Callable[[Sequence[UInt8]], Sequence[Float32]]
"""From units of views to the features of each."""


class Task(Protocol[Answer_co]):
    """An image on its way: it names the views it wants until it has its answer."""

    @property
    def answer(self) -> Answer_co | None:
        """The answer, or None while views are wanted."""
        ...

    @property
    def wanted(self) -> range:
        """The views to encode next; they may be drawn meanwhile."""
        ...

    def views(self, start: int, end: int) -> UInt8:
        """The pixels of the views from `start` to before `end`."""
        ...

    def receive(self, features: Float32, seconds: float) -> None:
        """Take the features of all wanted views, and this image's share of the time spent on them."""
        ...


@dataclass(frozen=True)
class Settled(Generic[Answer]):
    """An image that wants no views because its answer is there: it cannot be read."""

    answer: Answer


class _Source(Enum):
    """What the source of tasks yields after its last one."""

    EXHAUSTED = auto()


@dataclass
class _Request:
    """What one image wants at the moment, and the part of it that is there."""

    task: Task[object]
    features: list[Float32] = field(default_factory=list)
    seconds: float = 0.0


@dataclass(frozen=True)
class _Unit:
    """Consecutive views of one image that are encoded together."""

    request: _Request
    start: int
    end: int
    last: bool  # the request is complete with it

    def __len__(self) -> int:
        return self.end - self.start


class Scheduler(Generic[Answer]):
    """Runs tasks in batches of `batch_views` views and yields their answers in order.

    A batch is made of units of at most `block` views of one image, cut at multiples of `block`: which views share a
    unit does not depend on the other images. With a block of 1 a batch is cut anywhere, and always full while there is
    work. What an undecided image wants next is drawn while the next batch is encoded and goes into the one after it,
    ahead of any new image.

    Images are taken from the source only when a batch needs them, so those under way never fill more than two batches;
    of all images, answered ones that wait for an earlier one included, at most `most_open` are held. Where no image
    wants a second round, tasks receive their features in the order of the source.

    A source may yield None where it has no image at the moment but may have one later: what is pending is encoded
    then, in a smaller batch. Views of a task that has its answer already (a caller gave up on it) are left out.
    """

    def __init__(self, encode: Encode, *, batch_views: int, block: int) -> None:
        self._encode = encode
        self._batch_views = max(batch_views, block)
        self._block = block
        self._open: deque[Task[Answer] | Settled[Answer]] = deque()
        self._pending: deque[_Unit] = deque()
        self._refills: list[_Unit] = []

    def run(self, source: Iterable[Task[Answer] | Settled[Answer] | None], *, most_open: int) -> Iterator[Answer]:
        """The answers of the tasks, in their order; what the source raises is raised after those before it."""
        tasks = iter(source)
        exhausted = False
        failure: Exception | None = None
        while not exhausted or self._open:
            while self._open and (answer := self._open[0].answer) is not None:
                self._open.popleft()
                yield answer
            while not exhausted and self._pending_views < self._batch_views and len(self._open) < most_open:
                try:
                    task = next(tasks, _Source.EXHAUSTED)
                except Exception as error:  # noqa: BLE001 - raised below: the tasks before it have their answers first
                    failure, task = error, _Source.EXHAUSTED
                exhausted = task is _Source.EXHAUSTED
                if task is _Source.EXHAUSTED or task is None:
                    break
                self._open.append(task)
                self._pending.extend(self._units(task))
            if self._open and self._open[0].answer is None:
                self._run_batch()
        if failure is not None:
            raise failure

    @property
    def _pending_views(self) -> int:
        return sum(map(len, self._pending))

    def _units(self, task: Task[object] | Settled[Answer]) -> list[_Unit]:
        if isinstance(task, Settled) or task.answer is not None:
            return []
        request, wanted = _Request(task), task.wanted
        cuts = [*range(wanted.start - wanted.start % self._block, wanted.stop, self._block), wanted.stop]
        return [_Unit(request, max(start, wanted.start), end, last=end == wanted.stop) for start, end in pairwise(cuts)]

    def _run_batch(self) -> None:
        """Encodes the next batch and hands out features; what undecided images want next becomes a refill."""
        batch: list[_Unit] = []
        size = 0
        while self._pending and (not batch or size + len(self._pending[0]) <= self._batch_views):
            unit = self._pending.popleft()
            if unit.request.task.answer is None:
                batch.append(unit)
                size += len(unit)
        self._pending.extend(self._refills)
        self._refills = []
        if not batch:
            return
        pixels = [unit.request.task.views(unit.start, unit.end) for unit in batch]
        start = perf_counter()
        rows = self._encode(pixels)
        seconds_per_view = (perf_counter() - start) / size
        for unit, features in zip(batch, rows, strict=True):
            request = unit.request
            request.features.append(features)
            request.seconds += seconds_per_view * len(unit)
            if unit.last:
                request.task.receive(np.concatenate(request.features), request.seconds)
                self._refills.extend(self._units(request.task))


def run_tasks(
    tasks: Iterable[Task[Answer] | Settled[Answer] | None],
    encoder: Encoder,
    *,
    ends: Sequence[int],
    batch_views: int,
    encode: Encode | None = None,
) -> Iterator[Answer]:
    """The answers of tasks, in their order, with views in batches as the encoder computes them.

    Args:
        tasks: One for each image, as a `Scheduler` takes them.
        encoder: What encodes the views.
        ends: How many views of an image have been looked at after each of its rounds.
        batch_views: Views in a batch; rounded up to the encoder's block.
        encode: In place of `encode_units` of the encoder.
    """
    scheduler: Scheduler[Answer] = Scheduler(
        encode or encode_units(encoder), batch_views=batch_views, block=encoder.block_views or ends[-1]
    )
    return scheduler.run(tasks, most_open=2 * len(ends) * (batch_views // ends[0] + 1))


def cut_inside_block(ends: Sequence[int], known: int, block: int | None) -> int | None:
    """The first of these numbers of views whose features cannot be taken from `known` ones: it ends inside a block.

    Features of whole blocks are the same bits whatever follows; a part of a block was computed with what followed.
    """
    return next((end for end in ends if end < known and (block is None or end % block)), None)


def receive_known(task: Task[object], known: Float32) -> None:
    """Let a task have the features of its first views that are known from another time, round by round."""
    while task.answer is None and task.wanted.stop <= len(known):
        task.receive(known[task.wanted.start : task.wanted.stop], 0.0)


def encode_units(encoder: Encoder) -> Callable[[Sequence[UInt8]], list[Float32]]:
    """A function from units of views to their features, in as few calls as keep the features of each unit.

    An encoder that works in blocks counts them from the first view of a call, so whole blocks may share one; after a
    part of a block a new call starts. Where nothing is known of an encoder, every unit is a call of its own.
    """
    block = encoder.block_views

    def encode(units: Sequence[UInt8]) -> list[Float32]:
        calls: list[list[UInt8]] = [[]]
        for unit in units:
            if calls[-1] and len(calls[-1][-1]) != block:
                calls.append([])
            calls[-1].append(unit)
        rows = []
        for call in calls:
            features = encoder.encode_images(np.concatenate(call))
            rows.extend(np.split(features, np.cumsum([len(unit) for unit in call])[:-1]))
        return rows

    return encode
