"""Reads from something that may stop for ever without saying so, as a cluster can that lost a node at a bad moment."""

from collections.abc import Callable, Generator, Iterator
from queue import Empty, Full, Queue
from threading import Event, Thread
from time import monotonic
from typing import Any, Generic, TypeVar

Row = TypeVar("Row")

END = object()


class Watched(Generic[Row]):
    """The rows until they end or are given up; `ended` says which.

    A thread of its own reads them. They are given up when work had begun and neither a row came nor `beats` changed
    for `patience` seconds; whatever the thread waits for is then left to it.
    """

    def __init__(self, rows: Iterator[Row], *, beats: Callable[[], int], patience: float) -> None:
        self.ended = False
        self._rows = rows
        self._beats = beats
        self._patience = patience
        self._read: Queue[tuple[Any, BaseException | None]] = Queue(maxsize=1)
        self._left = Event()

    def __iter__(self) -> Generator[Row, None, None]:
        at_first = heard = self._beats()
        begun, last = False, monotonic()
        Thread(target=self._read_all, name="viewvote-rows", daemon=True).start()
        try:
            while not (begun and monotonic() - last > self._patience):
                try:
                    row, error = self._read.get(timeout=self._patience / 6)
                except Empty:
                    beats = self._beats()
                    if beats != heard:
                        heard, last = beats, monotonic()
                    begun = begun or beats != at_first
                    continue
                if error is not None:
                    raise error
                if row is END:
                    self.ended = True
                    return
                yield row
                begun, last = True, monotonic()
        finally:
            self._left.set()

    def _read_all(self) -> None:
        try:
            for row in self._rows:
                if not self._pass_on(row):
                    return
            self._pass_on(END)
        except BaseException as error:  # noqa: BLE001  whatever it is, it belongs to who reads the rows
            self._pass_on(None, error)
        finally:
            if isinstance(self._rows, Generator):
                self._rows.close()

    def _pass_on(self, row: Any, error: BaseException | None = None) -> bool:
        """Whether anybody still wanted it."""
        while not self._left.is_set():
            try:
                self._read.put((row, error), timeout=1.0)
            except Full:
                continue
            return True
        return False
