"""The memory that images being decoded share: who wants more than is free waits for its turn."""

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition


class Share:
    """Bytes of the memory that one image holds."""

    def __init__(self, memory: "DecodingMemory", held: int) -> None:
        self._memory = memory
        self.held = held

    def shrink(self, held: int) -> None:
        """Give back what is over `held`; a share never grows, so nobody waits while holding one."""
        held = min(held, self.held)
        self._memory._give_back(self.held - held)
        self.held = held


class DecodingMemory:
    """Bytes that are shared in the order of asking, so that many small images never keep out a large one."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._queue: deque[object] = deque()
        self.taken = 0

    @contextmanager
    def share(self, wanted: int, *, of: int) -> Iterator[Share]:
        """`wanted` of the `of` bytes, as soon as those before have theirs and it fits beside what is held."""
        ticket = object()
        with self._changed:
            self._queue.append(ticket)
            try:
                self._changed.wait_for(
                    lambda: self._queue[0] is ticket and (self.taken == 0 or self.taken + wanted <= of)
                )
                self.taken += wanted
            finally:
                self._queue.remove(ticket)
                self._changed.notify_all()
        share = Share(self, wanted)
        try:
            yield share
        finally:
            share.shrink(0)

    def _give_back(self, count: int) -> None:
        with self._changed:
            self.taken -= count
            self._changed.notify_all()


MEMORY = DecodingMemory()
"""That of this process."""
