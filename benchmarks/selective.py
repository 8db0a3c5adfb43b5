"""How well each way to decide knows its own mistakes, on the same views: the table of docs/results/probability.md.

    python -m benchmarks.selective --data DIR --model pocket [--views 64] [--cache runs/votes] [--write]

The cache is filled by `python -m training.votes.views`. Cells: area under risk and coverage (smaller is better), and
the share of images that can be answered with at most 5% errors, both in %, the surest answers first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from benchmarks.sections import add_write, section
from training.eval_sets import SETS
from training.votes.views import BUDGET, Labels, Seen, arguments, every_set, labels_of
from viewvote import load_encoder
from viewvote.classify.calibration import MOST
from viewvote.classify.likelihood import likelihood_of
from viewvote.methods import METHODS, Decision, VotingMethod
from viewvote.methods.anchored import Anchored
from viewvote.metrics.selective import risk_coverage
from viewvote.probability import ProbabilityFit
from viewvote.stopping.adaptive import Adaptive

RISK = 0.05
NAMES = {"zero-shot": "zero-shot", "marginal": "marginal", "mean-logits": "mean-logits", "MTA": "mta", "ZERO": "zero"}
SHARE = "ZERO, share of votes"
ANCHORED, DEFAULT = "anchored", "anchored, adaptive views"


def answers(found: Seen, labels: Labels) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """How sure each way is of each image, and whether it is right."""
    ways = {name: METHODS.get(known)() for name, known in NAMES.items()} | {ANCHORED: Anchored()}
    whole = found.features.shape[1] == BUDGET
    rule = Adaptive().rule(Anchored().keep, vote="anchored", model=labels.encoder.model_id) if whole else None
    said: dict[str, list[tuple[float, bool]]] = {}
    for place, features in zip(found.places.tolist(), found.features, strict=True):
        target = found.photos.labels[place]

        def say(name: str, sure: float, decision: Decision, target: int = target) -> None:
            said.setdefault(name, []).append((sure, decision.index == target))

        views = labels.views(features)
        for name, method in ways.items():
            decision = method.decide(views)
            fit = ProbabilityFit(most=MOST if isinstance(method, VotingMethod) else 1.0)
            say(name, likelihood_of(decision, views, fit=fit)[0], decision)
            if name == "ZERO":
                say(SHARE, decision.confidence, decision)
        if rule is not None:
            few = labels.looked_at(features, Anchored(), rule)
            decision = Anchored().decide(few)
            say(DEFAULT, likelihood_of(decision, few, fit=ProbabilityFit(most=MOST))[0], decision)
    return {
        name: (np.array([s for s, _ in pairs]), np.array([hit for _, hit in pairs])) for name, pairs in said.items()
    }


def table(by_set: Iterable[tuple[str, dict[str, tuple[np.ndarray, np.ndarray]]]]) -> Iterator[str]:
    """The lines of the table, set by set, of how sure each way is of each image and whether it is right."""
    sums: dict[str, list[tuple[float, float]]] = {}
    for name, said in by_set:
        if not sums:
            yield "| set | n | " + " | ".join(said) + " |"
            yield "|---" * (len(said) + 2) + "|"
        for way, (sure, right) in said.items():
            curve = risk_coverage(sure.astype(np.float32), right)
            sums.setdefault(way, []).append((100 * curve.aurc, curve.coverage_at(RISK)))
        n = len(next(iter(said.values()))[0])
        yield f"| {name} | {n} | " + " | ".join(cell(*sums[way][-1]) for way in said) + " |"
    yield "| mean | | " + " | ".join(cell(*np.mean(found, axis=0)) for found in sums.values()) + " |"


def cell(aurc: float, coverage: float) -> str:
    return f"{aurc:.1f} {coverage:.0%}"


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--views", type=int, default=BUDGET)
    add_write(parser)
    args = parser.parse_args()
    place = section("benchmarks.selective", args.model, write=args.write)
    encoder = load_encoder(args.model)
    found = every_set(args.data, encoder, cache=args.cache, seed=0, views=args.views, names=SETS)
    place.show(table((one.photos.name, answers(one, labels_of(encoder, one.photos.classes))) for one in found))


if __name__ == "__main__":
    main()
