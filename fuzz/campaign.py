"""Inputs without end for one target in a worker that can be killed, and what was found in the smallest form."""

import json
import os
import random
import selectors
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from time import perf_counter
from typing import Any

from .minimise import minimised
from .target import Target, limits, load, reproducers

CORPUS = Path(__file__).parent / "corpus"
FOUND = Path(__file__).parent / "found"
START_SECONDS = 120
MOST_SEEDS = 2000
MINIMISE_SECONDS = 20.0


@dataclass(frozen=True)
class Verdict:
    """What one input led to; `finding` names a fault, None where the target did what it promises."""

    outcome: str
    seconds: float
    finding: str | None = None
    trace: str = ""


class Worker:
    """The process of a target; it is started when it is asked and killed when it is late."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.seconds, _ = limits(load(name))
        self._folder = Path(tempfile.mkdtemp(prefix=f"fuzz-{name}-"))
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "Worker":
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        shutil.rmtree(self._folder, ignore_errors=True)

    def ask(self, data: bytes) -> Verdict:
        """What the input leads to."""
        process = self._started()
        start = perf_counter()
        try:
            process.stdin.write(struct.pack("<I", len(data)) + data)  # type: ignore[union-attr]
            process.stdin.flush()  # type: ignore[union-attr]
            line = self._line(self.seconds)
        except BrokenPipeError:
            line = b""
        if line is None:
            self.kill()
            return Verdict("late", perf_counter() - start, f"no answer within {self.seconds:g} seconds")
        if not line:
            code = process.wait()
            self.kill()
            cause = signal.Signals(-code).name if code < 0 else f"exit code {code}"
            return Verdict("died", perf_counter() - start, f"the process died: {cause}")
        return Verdict(**json.loads(line))

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


@dataclass
class Report:
    """What a campaign came to: inputs, the outcomes there were, the slowest accepted one, and findings by name."""

    target: str
    inputs: int = 0
    seconds: float = 0.0
    slowest_accepted: float = 0.0
    outcomes: set[str] = field(default_factory=set)
    findings: dict[str, Path] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready figures."""
        return {
            "target": self.target,
            "inputs": self.inputs,
            "per_second": round(self.inputs / max(self.seconds, 1e-9), 1),
            "outcomes": len(self.outcomes),
            "slowest_accepted": round(self.slowest_accepted, 3),
            "findings": {name: str(path) for name, path in self.findings.items()},
        }


def run_campaign(name: str, *, seconds: float, seed: int, keep: bool = True) -> Report:
    """Reproducers, seeds and the corpus first, then changed ones until the time is up.

    An input with an outcome that none had before joins the corpus, so that the next ones start from it. Each fault is
    minimised once and written to `fuzz/found`, with its traceback beside it.
    """
    rng, target, report = random.Random(seed), load(name), Report(name)
    corpus = CORPUS / name
    pool = [*reproducers(name), *target.seeds(rng), *_kept(corpus)]
    start = perf_counter()
    with Worker(name) as worker:
        for data in _inputs(pool, target, rng):
            if perf_counter() - start > seconds:
                break
            verdict = worker.ask(data)
            report.inputs += 1
            if verdict.outcome == "accepted":
                report.slowest_accepted = max(report.slowest_accepted, verdict.seconds)
            if verdict.finding is not None and verdict.finding not in report.findings:
                report.findings[verdict.finding] = _write_finding(worker, data, verdict)
            elif verdict.finding is None and verdict.outcome not in report.outcomes:
                report.outcomes.add(verdict.outcome)
                if len(pool) < MOST_SEEDS and data not in pool:
                    pool.append(data)
                    if keep:
                        _keep(corpus, data)
    report.seconds = perf_counter() - start
    return report


def _inputs(pool: list[bytes], target: Target, rng: random.Random) -> Iterable[bytes]:
    """The pool as it is, then changes of what is in it, which may grow meanwhile."""
    yield from list(pool)
    while True:
        data = rng.choice(pool)
        for _ in range(1 if rng.random() < 0.8 else rng.randint(2, 4)):
            data = target.mutate(data, rng)
        yield data


def _write_finding(worker: Worker, data: bytes, verdict: Verdict) -> Path:
    """Minimise the input, as far as its fault stays the same, and write it down."""
    small = minimised(data, lambda other: worker.ask(other).finding == verdict.finding, seconds=MINIMISE_SECONDS)
    folder = FOUND / worker.name
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / sha256((verdict.finding or "").encode()).hexdigest()[:12]
    path.write_bytes(small)
    path.with_suffix(".txt").write_text(f"{verdict.finding}\n\n{verdict.trace}", encoding="utf-8")
    print(json.dumps({"target": worker.name, "finding": verdict.finding, "input": str(path)}), flush=True)
    return path


def _kept(folder: Path) -> list[bytes]:
    return [path.read_bytes() for path in sorted(folder.iterdir())] if folder.is_dir() else []


def _keep(folder: Path, data: bytes) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / sha256(data).hexdigest()[:16]).write_bytes(data)
