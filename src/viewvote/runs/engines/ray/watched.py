"""Reading rows that may stop for ever without an error, as of a cluster that lost a node at a bad moment."""

from collections.abc import Callable, Generator, Iterator
from queue import Empty, Full, Queue
from threading import Event, Thread
from time import monotonic
from typing import Any, Generic, TypeVar

Row = TypeVar("Row")

END = object()


class Watched(Generic[Row]):
    """The rows until they end or are given up; `ended` is True for the former.

    A thread of its own reads them. They are given up when work had started and neither a row came nor `beats` changed
    for `patience` seconds; whatever the thread waits for then stays with it. `idle` is called now and then while
    there is no row, and may raise.
    """

    def __init__(
        self,
        rows: Iterator[Row],
        *,
        beats: Callable[[], int],
        patience: float,
        idle: Callable[[], None] = lambda: None,
    ) -> None:
        self.ended = False
        self._rows = rows
        self._beats = beats
        self._patience = patience
        self._idle = idle
        self._read: Queue[tuple[Any, BaseException | None]] = Queue(maxsize=1)
        self._abandoned = Event()

    def __iter__(self) -> Generator[Row, None, None]:
        at_first = latest = self._beats()
        started, last = False, monotonic()
        Thread(target=self._read_all, name="viewvote-rows", daemon=True).start()
        try:
            while not (started and monotonic() - last > self._patience):
                try:
                    row, error = self._read.get(timeout=self._patience / 6)
                except Empty:
                    beats = self._beats()
                    if beats != latest:
                        latest, last = beats, monotonic()
                    started = started or beats != at_first
                    self._idle()
                    continue
                if error is not None:
                    raise error
                if row is END:
                    self.ended = True
                    return
                yield row
                started, last = True, monotonic()
        finally:
            self._abandoned.set()

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
        """Hand the row to the reader; False if it has stopped reading."""
        while not self._abandoned.is_set():
            try:
                self._read.put((row, error), timeout=1.0)
            except Full:
                continue
            return True
        return False
