"""How well each way to decide knows its own mistakes, on the same views: the table of docs/metrics.md.

    python -m benchmarks.selective --data DIR --model pocket [--views 64] [--cache runs/votes]

The cache is filled by `python -m training.votes.views`. Cells: area under risk and coverage (smaller is better), and
the share of images that can be answered with at most 5% errors, both in %, the surest answers first.
"""

from __future__ import annotations

import numpy as np

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


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--views", type=int, default=BUDGET)
    args = parser.parse_args()
    encoder = load_encoder(args.model)
    titles: list[str] = []
    sums: dict[str, list[tuple[float, float]]] = {}
    for found in every_set(args.data, encoder, cache=args.cache, seed=0, views=args.views, names=SETS):
        said = answers(found, labels_of(encoder, found.photos.classes))
        if not titles:
            titles = list(said)
            print("| set | n | " + " | ".join(titles) + " |\n" + "|---" * (len(titles) + 2) + "|")
        cells = []
        for name, (sure, right) in said.items():
            curve = risk_coverage(sure.astype(np.float32), right)
            sums.setdefault(name, []).append((curve.aurc, curve.coverage_at(RISK)))
            cells.append(f"{100 * curve.aurc:.1f} {curve.coverage_at(RISK):.0%}")
        print(f"| {found.photos.name} | {len(found.places)} | " + " | ".join(cells) + " |", flush=True)
    means = [np.mean(sums[name], axis=0) for name in titles]
    print("| mean | | " + " | ".join(f"{100 * aurc:.1f} {coverage:.0%}" for aurc, coverage in means) + " |")


if __name__ == "__main__":
    main()
