"""Adaptive views on OpenAI's own CLIP features: views looked at, and how often the answer is that of all 64.

    python -m benchmarks.real_clip_adaptive --data DIR [--disagreement 0.01] [--cache runs/real-clip] [--write]

Looks at the images whose features `benchmarks.real_clip` has left in --cache on this machine, with the thresholds that
ship, which were fitted to another model.
"""

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.adaptive import percent
from benchmarks.compare import VIEWS, Benchmark
from benchmarks.real_clip import MEASURED, SHOWN_AS, load
from benchmarks.sections import add_write, section
from training.eval_sets import data_folder, load_benchmark
from viewvote.arrays import Float32
from viewvote.encoders.onnx.encoder import OnnxEncoder
from viewvote.encoders.text_head import build_text_head
from viewvote.errors import UsageError
from viewvote.labels.templates import resolve_templates
from viewvote.methods import ViewLogits
from viewvote.methods.zero import Zero
from viewvote.rates import rate_of
from viewvote.stopping import Adaptive, StoppingRule


@dataclass(frozen=True)
class Outcome:
    """One image: how many views were looked at, and whether they and all of them answer alike and rightly."""

    views: int
    same: bool
    right: bool
    full_right: bool


def stopped(logits: Float32, rule: StoppingRule, target: int, method: Zero) -> Outcome:
    """What the rule does with an image's logits (views, classes)."""
    seen = {n: ViewLogits(logits[:n]) for n in (*rule.rounds, len(logits))}
    views = next(n for n in rule.rounds if n == len(logits) or rule.settled(seen[n].labels, seen[n].order))
    found, full = (method.decide(seen[n]).index for n in (views, len(logits)))
    return Outcome(views, found == full, found == target, full == target)


def outcomes(encoder: OnnxEncoder, bench: Benchmark, cache: Path, rule: StoppingRule, method: Zero) -> list[Outcome]:
    """Those of the set's images whose features are there."""
    path = cache / encoder.vision_fingerprint / f"{bench.name}.npy"
    if not path.exists():
        return []
    stored: NDArray[np.float32] = np.load(path, mmap_mode="r")
    head = build_text_head(encoder, bench.classes, templates=resolve_templates("photo"))
    there = [i for i in range(len(stored)) if stored[i].any()]
    return [stopped(head.logits(stored[i], encoder), rule, bench.labels[i], method) for i in there]


def line(name: str, found: Sequence[Outcome]) -> str:
    """A row of the table."""
    everyone = np.ones(len(found), dtype=bool)
    same, right, full = (
        rate_of(np.array([getattr(one, what) for one in found]), everyone) for what in ("same", "right", "full_right")
    )
    views = np.mean([one.views for one in found])
    return f"| {name} | {len(found)} | {views:.1f} | {percent(same)} | {percent(right)} | {percent(full)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=data_folder, required=True)
    parser.add_argument("--disagreement", type=float, default=0.01)
    parser.add_argument("--cache", type=Path, default=Path("runs/real-clip"))
    add_write(parser)
    args = parser.parse_args()
    place = section("benchmarks.real_clip_adaptive", write=args.write)
    method = Zero()
    try:
        rule = Adaptive(budget=VIEWS, disagreement=args.disagreement).rule(keep=method.keep)
    except UsageError as error:
        parser.error(str(error))
    encoder = load("clip-b16", threads=0)
    sets = ((name, outcomes(encoder, load_benchmark(args.data, name), args.cache, rule, method)) for name in MEASURED)
    place.show(table(sets))


def table(sets: Iterable[tuple[str, Sequence[Outcome]]]) -> Iterator[str]:
    """The lines of the table, with one of all sets together."""
    yield "| set | n | views | same answer, % | accuracy, % | of all 64, % |"
    yield "|---|---|---|---|---|---|"
    every: list[Outcome] = []
    for name, found in sets:
        every += found
        if found:
            yield line(SHOWN_AS[name], found)
    if not every:
        sys.exit("no features in --cache: run benchmarks.real_clip first")
    yield line("together", every)


if __name__ == "__main__":
    main()
