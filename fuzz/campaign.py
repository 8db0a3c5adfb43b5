"""Inputs without end for one target in a worker that can be killed, and what was found in the smallest form."""

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import Any

from .killable import Verdict, Worker
from .ledger import LEDGER, Tally, add_to_ledger, next_seed
from .minimise import minimised
from .target import Target, load, reproducers

__all__ = ["Report", "Verdict", "Worker", "run_campaign"]

CORPUS = Path(__file__).parent / "corpus"
FOUND = Path(__file__).parent / "found"
MOST_SEEDS = 2000
MOST_AT_ONCE = 256
BATCH_SECONDS = 1.0
NOTE_SECONDS = 30.0
MINIMISE_SECONDS = 20.0


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


def run_campaign(
    name: str, *, seconds: float, seed: int | None = None, keep: bool = True, most: int | None = None
) -> Report:
    """Reproducers, seeds and the corpus first, then changed ones until the time is up or there were `most` inputs.

    An input with an outcome that none had before joins the corpus, so that the next ones start from it. Each fault is
    minimised once and written to `fuzz/found`, with its traceback beside it. Without a seed it is the ledger's next
    one; with `keep`, figures are added to the ledger on the way.
    """
    seed = next_seed(name) if seed is None else seed
    rng, target, report = random.Random(seed), load(name), Report(name)
    pool = Pool([*reproducers(name), *target.seeds(rng), *_kept(CORPUS / name)])
    tally, noted, start = Tally(name, seed), perf_counter(), perf_counter()
    inputs, count = _inputs(pool, target, rng), 1
    with Worker(name) as worker:
        while (left := seconds - (perf_counter() - start)) > 0 and (most is None or report.inputs < most):
            batch, asked = list(islice(inputs, count)), perf_counter()
            verdicts = worker.ask_all(batch)
            took = perf_counter() - asked
            for data, verdict in zip(batch, verdicts, strict=True):
                _take(data, verdict, report=report, pool=pool, worker=worker, keep=keep)
                tally.count(verdict)
            tally.spent(seconds=perf_counter() - asked, rss=worker.rss, processor=worker.processor)
            count = _next_count(count, took, left=left, most=most and most - report.inputs)
            if keep and perf_counter() - noted > NOTE_SECONDS:
                tally, noted = add_to_ledger(LEDGER, tally), perf_counter()
    report.seconds = perf_counter() - start
    if keep:
        add_to_ledger(LEDGER, tally)
    return report


class Pool:
    """Inputs to start from; the quicker ones are chosen more often."""

    def __init__(self, inputs: list[bytes]) -> None:
        self.inputs = inputs
        self.accepted: list[bytes] = []
        self._known = set(inputs)
        self._seconds: dict[bytes, float] = {}

    def choose(self, rng: random.Random) -> bytes:
        """Mostly one that is accepted, for others are soon refused; the quicker of two, three times out of four."""
        among = self.accepted if self.accepted and rng.random() < 0.7 else self.inputs
        one, other = rng.choice(among), rng.choice(among)
        if rng.random() < 0.75 and self._cost(other) < self._cost(one):
            return other
        return one

    def add(self, data: bytes) -> bool:
        """Whether it is new, and there was room."""
        if len(self.inputs) >= MOST_SEEDS or data in self._known:
            return False
        self.inputs.append(data)
        self._known.add(data)
        return True

    def asked(self, data: bytes, verdict: Verdict) -> None:
        """Note how long one of them took, and whether it was accepted."""
        if data in self._known:
            if verdict.outcome == "accepted" and data not in self._seconds:
                self.accepted.append(data)
            self._seconds[data] = verdict.seconds

    def _cost(self, data: bytes) -> float:
        return self._seconds.get(data, 0.0) + len(data) * 1e-8


def _take(data: bytes, verdict: Verdict, *, report: Report, pool: Pool, worker: Worker, keep: bool) -> None:
    """Count one verdict; its input joins the pool, or is minimised and written down."""
    report.inputs += 1
    pool.asked(data, verdict)
    if verdict.outcome == "accepted":
        report.slowest_accepted = max(report.slowest_accepted, verdict.seconds)
    if verdict.finding is not None and verdict.finding not in report.findings:
        report.findings[verdict.finding] = _write_finding(worker, data, verdict)
    elif verdict.finding is None and verdict.outcome not in report.outcomes:
        report.outcomes.add(verdict.outcome)
        if pool.add(data) and keep:
            _keep(CORPUS / report.target, data)


def _next_count(count: int, took: float, *, left: float, most: int | None) -> int:
    """How many inputs to hand over next: about a second's worth, and no more than time and number allow."""
    each = max(took / count, 1e-5)
    fitting = int(min(BATCH_SECONDS, max(left, 0.0)) / each)
    return max(1, min(fitting, 2 * count, MOST_AT_ONCE, most or MOST_AT_ONCE))


def _inputs(pool: Pool, target: Target, rng: random.Random) -> Iterator[bytes]:
    """The pool as it is, then changes of what is in it, which may grow meanwhile."""
    yield from list(pool.inputs)
    while True:
        data = pool.choose(rng)
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
    path.with_suffix(".whole").write_bytes(data)
    path.with_suffix(".txt").write_text(f"{verdict.finding}\n\n{verdict.trace}", encoding="utf-8")
    print(json.dumps({"target": worker.name, "finding": verdict.finding, "input": str(path)}), flush=True)
    return path


def _kept(folder: Path) -> list[bytes]:
    return [path.read_bytes() for path in sorted(folder.iterdir())] if folder.is_dir() else []


def _keep(folder: Path, data: bytes) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / sha256(data).hexdigest()[:16]).write_bytes(data)
