"""Whether adaptive views still answer as the full budget does where photos are taken as context, on cached features.

    python -m benchmarks.context_views --data DIR --cache FOLDER --model pocket [--write]

FOLDER is that of benchmarks.context. The thresholds that ship were calibrated without context; each set as a whole is
its own context here.
"""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from benchmarks.context import KEEP, Scored, scored
from benchmarks.sections import add_write, section
from training.eval_sets import SETS, data_folder, load_benchmark
from viewvote import load_encoder
from viewvote.arrays import Float32
from viewvote.context.rule import estimate
from viewvote.methods import ViewLogits
from viewvote.methods.anchored import Anchored
from viewvote.stopping.adaptive import Adaptive
from viewvote.stopping.calibrate import Outcome, Replay, outcome
from viewvote.stopping.rules import adaptive_rounds, standing

BUDGET = 64
LEVELS = ("noise", "strict")
BOTH = tuple(name for name in SETS if name not in ("imagenet", "oxford_flowers", "stanford_cars"))
"""The sets of the tables of context: more than a few photographs of each label."""


def replayed(one: Scored, offsets: Float32) -> Replay:
    """The rounds of every image, with these offsets taken off."""
    method, rounds = Anchored(keep=KEEP), adaptive_rounds(BUDGET)
    answers, support = np.zeros((2, len(one.labels), len(rounds)))
    scale, bias = one.encoder.logit_scale, one.encoder.logit_bias
    for i, logits in enumerate(one.logits - offsets):
        say, sure = None, 0.0
        for j, n in enumerate(rounds):
            views = ViewLogits(logits[:n], scale, bias, likeness=one.likeness, tie_draw=0.0)
            if say is None:
                say, sure = method.say(views), float(views.top_probability[0])
            answers[i, j] = method.decide(views).index
            support[i, j] = standing(views.labels, views.order, keep=KEEP, say=say, sure=sure)
    keys = tuple(f"{one.name}/{i}" for i in range(len(one.labels)))
    return Replay(keys, one.labels, KEEP, rounds, answers.astype(np.int64), support, "anchored")


def table(found: dict[str, dict[str, tuple[Outcome, Outcome]]]) -> Iterator[str]:
    """The lines of the table of what each level does to each set, without context and in it, and over all sets."""
    yield "| set | n | level | views | other answers | with context: views | other answers |"
    yield "|---|---:|---|---:|---:|---:|---:|"
    for name, levels in found.items():
        for level, both in levels.items():
            yield row(name, level, [[one] for one in both])
    for level in LEVELS:
        yield row("all", level, list(zip(*(levels[level] for levels in found.values()), strict=True)))


def row(name: str, level: str, both: Sequence[Sequence[Outcome]]) -> str:
    """A line of the table, of one set or of several together."""
    n = np.array([one.agreement.n for one in both[0]])
    means = [
        (n @ [one.views for one in each] / n.sum(), 1 - n @ [one.agreement.value for one in each] / n.sum())
        for each in both
    ]
    return f"| {name} | {n.sum():,} | `{level}` | " + " | ".join(f"{v:.1f} | {o:.1%}" for v, o in means) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=data_folder, required=True)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--model", default="pocket")
    parser.add_argument("--sets", nargs="+", default=list(BOTH), choices=SETS)
    add_write(parser)
    args = parser.parse_args()
    place = section("benchmarks.context_views", write=args.write)
    encoder = load_encoder(args.model)
    found: dict[str, dict[str, tuple[Outcome, Outcome]]] = {}
    for name in args.sets:
        one = scored(encoder, load_benchmark(args.data, name), args.cache, views=BUDGET)
        offsets = estimate(one.logits[:, 0]).offsets
        plain, within = (replayed(one, less) for less in (np.zeros_like(offsets), offsets))
        rules = {
            level: Adaptive(disagreement=level).rule(KEEP, vote="anchored", model=encoder.model_id) for level in LEVELS
        }
        found[name] = {
            level: (outcome(plain, rule.thresholds), outcome(within, rule.thresholds)) for level, rule in rules.items()
        }
    place.show(table(found))


if __name__ == "__main__":
    main()
