"""Threads that outlast a fork and never keep the process from ending."""

import os
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any, ParamSpec, TypeVar
from weakref import finalize

P = ParamSpec("P")
T = TypeVar("T")
_Work = tuple[Future[Any], Callable[..., Any], tuple[Any, ...], dict[str, Any]]


class Pool:
    """Daemon threads that do what is submitted, in its order.

    Those of `concurrent.futures` are waited for when the process ends, so that Ctrl-C would wait for a decoder or for a
    read that hangs.
    """

    def __init__(self, count: int, name: str) -> None:
        self._work: SimpleQueue[_Work | None] = SimpleQueue()
        self.count = count
        self._name = name
        self._started = 0
        self._lock = Lock()
        # The threads know the queue alone, so that a pool nobody has any more can end them.
        finalize(self, _end, self._work, count).atexit = False

    def submit(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """The result to come of `function`."""
        future: Future[T] = Future()
        self._work.put((future, function, args, kwargs))
        if self._started < self.count:
            with self._lock:
                if self._started < self.count:
                    self._started += 1
                    Thread(target=_run, args=(self._work,), name=f"{self._name}-{self._started}", daemon=True).start()
        return future

    def close(self) -> None:
        """Let the threads end once they have done what was submitted; nobody waits for them."""
        _end(self._work, self._started)


def _run(queue: SimpleQueue[_Work | None]) -> None:
    while (work := queue.get()) is not None:
        future, function, args, kwargs = work
        if future.set_running_or_notify_cancel():
            try:
                future.set_result(function(*args, **kwargs))
            except BaseException as error:  # noqa: BLE001 - it belongs to whoever asks for the result
                future.set_exception(error)
        del work, future, function, args, kwargs  # an image must not live until the next one comes


def _end(queue: SimpleQueue[_Work | None], count: int) -> None:
    for _ in range(count):
        queue.put(None)


@dataclass(frozen=True)
class Threads:
    """Threads by the process that asks: those of a parent do not live on in a forked child, which gets its own.

    Pre-forking servers and data loaders make a classifier first and fork then; work given to the parent's threads would
    wait for ever.
    """

    count: int
    name: str
    _pools: dict[int, Pool] = field(default_factory=dict, repr=False, compare=False)

    @property
    def pool(self) -> Pool:
        """The pool of this process; its threads start with its first work."""
        pid = os.getpid()
        if pid not in self._pools:  # two threads may get here at once: setdefault lets one of them win
            self._pools.setdefault(pid, Pool(self.count, self.name))
        return self._pools[pid]
