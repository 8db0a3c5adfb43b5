"""How far the memory of this process and of some others rises, as the system counts it (Linux)."""

import os
import re
from collections.abc import Callable, Iterable
from contextlib import suppress

_FIGURES = re.compile(rb"VmHWM:\s*(\d+) kB\s*VmRSS:\s*(\d+) kB")


class Peak:
    """`start` sets the marks of highest memory back, `grown` is what they rose by since."""

    def __init__(self, processes: Callable[[], Iterable[int]] = lambda: ()) -> None:
        self._processes = processes
        self._files: dict[int, tuple[int, int]] = {}
        self._before: dict[int, int] = {}

    def start(self) -> None:
        """Set the marks back."""
        for pid in self._pids():
            figures = self._figures(pid)
            if figures is not None:
                self._before[pid] = figures[1]
                with suppress(OSError):
                    os.write(self._files[pid][1], b"5")

    def grown(self) -> float:
        """Megabytes that all of the processes rose by, each at its own time; of one that is new it cannot be known."""
        total = 0
        for pid in self._pids():
            figures = self._figures(pid)
            if figures is not None and pid in self._before:
                total += max(0, figures[0] - self._before[pid])
        return total * 1024 / 1e6

    def _pids(self) -> list[int]:
        pids = [os.getpid(), *self._processes()]
        for gone in self._files.keys() - set(pids):
            for file in self._files.pop(gone):
                os.close(file)
            self._before.pop(gone, None)
        return pids

    def _figures(self, pid: int) -> tuple[int, int] | None:
        """Highest and present kilobytes in memory; None where the process is gone."""
        try:
            if pid not in self._files:
                status = os.open(f"/proc/{pid}/status", os.O_RDONLY)
                self._files[pid] = status, os.open(f"/proc/{pid}/clear_refs", os.O_WRONLY)
            found = _FIGURES.search(os.pread(self._files[pid][0], 4096, 0))
        except OSError:
            return None
        return (int(found[1]), int(found[2])) if found else None
