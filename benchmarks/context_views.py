"""Whether adaptive views still answer as the full budget does where photos are taken as context, on cached features.

    python -m benchmarks.context_views --data DIR --cache FOLDER --model pocket

FOLDER is that of benchmarks.context. The thresholds that ship were calibrated without context; each set as a whole is
its own context here.
"""

import argparse
from pathlib import Path

import numpy as np

from benchmarks.context import KEEP, Scored, scored
from training.eval_sets import SETS, data_folder, load_benchmark
from viewvote import load_encoder
from viewvote.arrays import Float32
from viewvote.context.rule import estimate
from viewvote.methods import ViewLogits
from viewvote.methods.anchored import Anchored
from viewvote.stopping.adaptive import Adaptive
from viewvote.stopping.calibrate import Replay, outcome
from viewvote.stopping.rules import adaptive_rounds, standing

BUDGET = 64
LEVELS = ("noise", "strict")


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=data_folder, required=True)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--model", default="pocket")
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=SETS)
    args = parser.parse_args()
    encoder = load_encoder(args.model)
    print(
        "| set | n | level | views | other answers | with context: views | other answers |", "|---" * 7 + "|", sep="\n"
    )
    for name in args.sets:
        if not (args.cache / f"{name}.npy").exists():
            continue
        one = scored(encoder, load_benchmark(args.data, name), args.cache, views=BUDGET)
        offsets = estimate(one.logits[:, 0]).offsets
        both = [replayed(one, less) for less in (np.zeros_like(offsets), offsets)]
        for level in LEVELS:
            rule = Adaptive(disagreement=level).rule(KEEP, vote="anchored", model=encoder.model_id)
            found = [outcome(each, rule.thresholds) for each in both]
            cells = [f"{each.views:.1f} | {1 - each.agreement.value:.1%}" for each in found]
            print(f"| {name} | {len(one.labels)} | {level} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
