"""The process of a target: started when it is asked, given many inputs at a time, and killed where one is late."""

import json
import os
import selectors
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from .target import limits, load

START_SECONDS = 180
LOOK_SECONDS = 1.0
"""How often a busy worker's progress is looked at."""

_IN_MEMORY = Path("/dev/shm")  # files of a few bytes: a disk would wait for its journal at every folder


@dataclass(frozen=True)
class Verdict:
    """What one input led to; `finding` names a fault, None where the target did what it promises.

    kind       of the input: the format of an image, the name of a file
    megabytes  by which memory rose at most while it was at work
    """

    outcome: str
    seconds: float
    finding: str | None = None
    trace: str = ""
    kind: str = ""
    megabytes: float = 0.0


class Worker:
    """A process that answers inputs in their order; its answers lie in a file, so that its death loses none of them."""

    def __init__(self, name: str) -> None:
        self.name = name
        target = load(name)
        self.seconds, _ = limits(target)
        self._threads = getattr(target, "THREADS", 1)
        self.rss = self.processor = 0.0
        self._folder = Path(tempfile.mkdtemp(prefix=f"fuzz-{name}-", dir=_IN_MEMORY if _IN_MEMORY.is_dir() else None))
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "Worker":
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        shutil.rmtree(self._folder, ignore_errors=True)

    def ask(self, data: bytes) -> Verdict:
        """What the input leads to."""
        return self.ask_all([data])[0]

    def ask_all(self, inputs: Sequence[bytes]) -> list[Verdict]:
        """What each of the inputs leads to; after one that ends the process, another process goes on."""
        verdicts: list[Verdict] = []
        while len(verdicts) < len(inputs):
            verdicts += self._some(inputs[len(verdicts) :])
        return verdicts

    def _some(self, inputs: Sequence[bytes]) -> list[Verdict]:
        """Verdicts of the first inputs: of all, or up to the one that was late or ended the process."""
        process = self._started()
        before = self._answered()
        with suppress(BrokenPipeError):
            process.stdin.write(struct.pack("<I", len(inputs)))  # type: ignore[union-attr]
            for data in inputs:
                process.stdin.write(struct.pack("<I", len(data)) + data)  # type: ignore[union-attr]
            process.stdin.flush()  # type: ignore[union-attr]
        line = self._watched()
        verdicts = self._answers(before)
        if line:
            self.rss, self.processor = map(float, line.split())
            return verdicts
        if self._threads > 1 and len(inputs) > 1:  # any of them may be the cause
            self.kill()
            return [self.ask(data) for data in inputs]
        if line is None:
            self.kill()
            late = Verdict("late", self.seconds, f"no answer within {self.seconds:g} seconds")
            return [*verdicts, late][: len(inputs)]
        code = process.wait()
        self.kill()
        cause = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        return [*verdicts, Verdict("died", 0.0, f"the process died: {cause}")][: len(inputs)]

    def _watched(self) -> bytes | None:
        """The line with which the worker ends its inputs: b"" where it died, None where one of them took too long."""
        size, since = -1, monotonic()
        while True:
            line = self._line(min(LOOK_SECONDS, self.seconds))
            if line is not None:
                return line
            if (now := self._answered()) != size:
                size, since = now, monotonic()
            elif monotonic() - since > self.seconds:
                return None

    def _answered(self) -> int:
        """Bytes of answers there are."""
        return (self._folder / "answers").stat().st_size

    def _answers(self, start: int) -> list[Verdict]:
        with (self._folder / "answers").open("rb") as file:
            file.seek(start)
            return [Verdict(**json.loads(line)) for line in file if line.endswith(b"\n")]

    def kill(self) -> None:
        """End the process and what it started."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            for pipe in (self._process.stdin, self._process.stdout):
                with suppress(OSError):
                    pipe.close()  # type: ignore[union-attr]
            self._process = None

    def _started(self) -> "subprocess.Popen[bytes]":
        if self._process is None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder.mkdir()
            environment = {
                **os.environ,
                "FUZZ_SCRATCH": str(self._folder),
                "VIEWVOTE_CACHE": str(self._folder / "cache"),
                "HF_HUB_OFFLINE": "1",
                "OMP_NUM_THREADS": "1",
                "MALLOC_ARENA_MAX": "2",  # each thread's own arena would take 64 MB of addresses
                "MALLOC_MMAP_THRESHOLD_": "1000000",  # what is freed is given back, and counted when it is taken again
            }
            self._process = subprocess.Popen(
                [sys.executable, "-m", "fuzz.worker", self.name],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=environment,
                start_new_session=True,
            )
            if self._line(START_SECONDS) != b"ready\n":
                self.kill()
                raise RuntimeError(f"the worker of {self.name} does not start: python -m fuzz.worker {self.name}")
        return self._process

    def _line(self, seconds: float) -> bytes | None:
        """The next line of the worker: b"" where it ended, None where it is late."""
        pipe = self._process.stdout  # type: ignore[union-attr]
        with selectors.DefaultSelector() as selector:
            selector.register(pipe, selectors.EVENT_READ)  # type: ignore[arg-type]
            return pipe.readline() if selector.select(seconds) else None  # type: ignore[union-attr]
