"""What all campaigns came to: a file that each adds its figures to, and the tables made of it.

`python -m fuzz.ledger` prints the tables, `--write` puts them into docs/results/reliability.md as well.
"""

import argparse
import fcntl
import json
import os
import subprocess
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.sections import add_write, section

from .killable import Verdict

LEDGER = Path(__file__).parent / "figures.json"


@dataclass
class Tally:
    """Figures of one campaign that are not in the ledger yet."""

    target: str
    seed: int
    inputs: Counter[str] = field(default_factory=Counter)
    accepted: Counter[str] = field(default_factory=Counter)
    slowest: dict[str, float] = field(default_factory=dict)
    megabytes: dict[str, float] = field(default_factory=dict)
    findings: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    processor: float = 0.0
    first: tuple[float, float] = (0.0, 0.0)
    growth: float = 0.0

    def count(self, verdict: Verdict) -> None:
        """One input's verdict."""
        self.inputs[verdict.kind] += 1
        self.megabytes[verdict.kind] = max(verdict.megabytes, self.megabytes.get(verdict.kind, 0.0))
        if verdict.outcome == "accepted":
            self.accepted[verdict.kind] += 1
            self.slowest[verdict.kind] = max(verdict.seconds, self.slowest.get(verdict.kind, 0.0))
        if verdict.finding is not None:
            self.findings[verdict.finding] += 1

    def spent(self, *, seconds: float, rss: float, processor: float) -> None:
        """The seconds of some inputs; the worker's megabytes and its seconds of processor time after them."""
        self.seconds += seconds
        if processor < self.first[1] or not self.first[0]:  # another worker
            self.first = rss, 0.0
        self.processor += processor - self.first[1]
        self.growth = max(self.growth, rss - self.first[0])
        self.first = self.first[0], processor


def add_to_ledger(path: Path, tally: Tally) -> Tally:
    """Add the figures to those of the file, which others may add to as well; returns an empty tally to go on with."""
    with path.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        ledger = read_ledger(path)
        _merge(ledger.setdefault(tally.target, {}), tally)
        beside = path.with_suffix(".new")
        beside.write_text(json.dumps(ledger, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        beside.replace(path)
    return Tally(tally.target, tally.seed, first=tally.first, growth=tally.growth)


def read_ledger(path: Path) -> dict[str, Any]:
    """The figures by target."""
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else {}


def next_seed(target: str) -> int:
    """A seed that no campaign of the ledger had."""
    return 1 + max(read_ledger(LEDGER).get(target, {}).get("seeds", [0]))


def _merge(into: dict[str, Any], tally: Tally) -> None:
    into["seeds"] = sorted({*into.get("seeds", []), tally.seed})
    into["seconds"] = round(into.get("seconds", 0.0) + tally.seconds, 1)
    into["processor"] = round(into.get("processor", 0.0) + tally.processor, 1)
    into["growth"] = round(max(into.get("growth", 0.0), tally.growth), 1)
    versions = into.setdefault("versions", {})
    versions[version()] = versions.get(version(), 0) + tally.inputs.total()
    for name, count in tally.findings.items():
        found = into.setdefault("findings", {}).setdefault(name, {})
        found[version()] = found.get(version(), 0) + count
    kinds = into.setdefault("kinds", {})
    for kind, count in tally.inputs.items():
        old = kinds.get(kind, {})
        kinds[kind] = {
            "inputs": old.get("inputs", 0) + count,
            "accepted": old.get("accepted", 0) + tally.accepted[kind],
            "slowest": max(old.get("slowest", 0.0), tally.slowest.get(kind, 0.0)),
            "megabytes": max(old.get("megabytes", 0.0), tally.megabytes.get(kind, 0.0)),
        }


@cache
def version() -> str:
    """The commit of the code, with a plus where the package has changed since."""
    if given := os.environ.get("FUZZ_VERSION"):
        return given
    git = ["git", "-C", str(Path(__file__).parents[1])]
    try:
        found = subprocess.run([*git, "rev-parse", "--short=10", "HEAD"], capture_output=True, text=True, check=True)
        changed = subprocess.run([*git, "status", "--porcelain", "src"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return found.stdout.strip() + ("+" if changed.stdout.strip() else "")


def tables(ledger: dict[str, Any]) -> str:
    """The targets' figures, and those of images by format, as Markdown."""
    lines = [
        "| target | inputs | accepted | a second | a second of processor time | slowest accepted | memory of one input "
        "| growth of a worker | found |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name, one in sorted(ledger.items()):
        kinds = one["kinds"].values()
        inputs = sum(kind["inputs"] for kind in kinds)
        lines.append(
            f"| {name} | {inputs:,} | {sum(kind['accepted'] for kind in kinds):,} "
            f"| {inputs / max(one['seconds'], 1e-9):,.0f} | {inputs / max(one['processor'], 1e-9):,.0f} "
            f"| {max(kind['slowest'] for kind in kinds):.2f} s | {max(kind['megabytes'] for kind in kinds):.0f} MB "
            f"| {one['growth']:.0f} MB | {len(one.get('findings', {}))} |"
        )
    lines += ["", "| images | inputs | accepted | slowest accepted | memory of one input |", "|---|---|---|---|---|"]
    for kind, figures in sorted(ledger.get("images", {}).get("kinds", {}).items()):
        slowest = f"{figures['slowest']:.2f} s" if figures["accepted"] else "-"
        lines.append(
            f"| {kind} | {figures['inputs']:,} | {figures['accepted']:,} | {slowest} | {figures['megabytes']:.0f} MB |"
        )
    return "\n".join(lines)


def main() -> None:
    """Print the tables, and put them into their page."""
    parser = argparse.ArgumentParser(prog="fuzz.ledger", description=__doc__)
    add_write(parser)
    args = parser.parse_args()
    section("fuzz.ledger", write=args.write).show(tables(read_ledger(LEDGER)).splitlines())


if __name__ == "__main__":
    main()
