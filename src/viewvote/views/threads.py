"""Threads that outlast a fork."""

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Threads:
    """Threads by the process that asks: those of a parent do not live on in a forked child, which gets its own.

    Pre-forking servers and data loaders make a classifier first and fork then; work given to the parent's threads would
    wait for ever.
    """

    count: int
    name: str
    _pools: dict[int, ThreadPoolExecutor] = field(default_factory=dict, repr=False, compare=False)

    @property
    def pool(self) -> ThreadPoolExecutor:
        """The pool of this process; its threads start with its first work."""
        pid = os.getpid()
        if pid not in self._pools:  # two threads may get here at once: setdefault lets one of them win
            self._pools.setdefault(pid, ThreadPoolExecutor(self.count, thread_name_prefix=self.name))
        return self._pools[pid]
