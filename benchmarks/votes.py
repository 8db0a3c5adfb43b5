"""Every way to decide on the same views, paired against zero-shot: the tables of docs/results/vote.md.

    python -m benchmarks.votes --data DIR --model pocket [--views 64] [--cache runs/votes] [--write]

The cache is filled by `python -m training.votes.views`. Cells: points gained over zero-shot, images gained / lost, *
where McNemar's mid-p is below 0.05 (not corrected for many tests).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from benchmarks.sections import add_write, section
from training.eval_sets import SETS
from training.votes.views import BUDGET, Labels, Seen, arguments, every_set, labels_of
from viewvote import load_encoder
from viewvote.encoders.likeness import mean_cosine
from viewvote.methods import METHODS, ViewLogits
from viewvote.methods.anchored import Anchored
from viewvote.metrics.paired import mcnemar

LEVEL = 0.05
WAYS = {
    "ZERO": METHODS.get("zero")().decide,
    "anchored": Anchored().decide,
    "equal say (w = 1)": Anchored(weight=1).decide,
    "MTA": METHODS.get("mta")().decide,
    "marginal": METHODS.get("marginal")().decide,
    "mean-logits": METHODS.get("mean-logits")().decide,
}
BLEND = "E-CoTS's blend"


def blended(views: ViewLogits, cosine: float) -> int:
    """The training-free blend of E-CoTS: the source view by the labels' mean cosine, the rest the strong views."""
    probabilities = np.exp(views.logp)
    strong = np.argsort(views.entropy[1:], kind="stable")[: max(1, int(0.1 * (len(views) - 1)))] + 1
    mixed = cosine * probabilities[0] + (1 - cosine) * probabilities[strong].mean(axis=0)
    return int(mixed.argmax())


def answers(found: Seen, labels: Labels) -> dict[str, NDArray[np.bool_]]:
    """Which images each way gets right."""
    targets = np.array(found.photos.labels)[found.places]
    said: dict[str, list[int]] = {}
    cosine = mean_cosine(labels.head.features)
    for features in found.features:
        views = labels.views(features)
        said.setdefault("zero-shot", []).append(int(views.labels[0]))
        for name, decide in WAYS.items():
            said.setdefault(name, []).append(decide(views).index)
        said.setdefault(BLEND, []).append(blended(views, cosine))
    return {name: np.array(indices) == targets for name, indices in said.items()}


def table(by_set: Iterable[tuple[str, dict[str, NDArray[np.bool_]]]]) -> Iterator[str]:
    """The lines of the table, set by set, of which images each way gets right."""
    titles = (*WAYS, BLEND)
    yield "| set | n | zero-shot | " + " | ".join(titles) + " |"
    yield "|---" * (len(titles) + 3) + "|"
    gains: dict[str, list[float]] = {title: [] for title in titles}
    for name, right in by_set:
        plain, cells = right["zero-shot"], []
        for title in titles:
            test = mcnemar(plain, right[title])
            gain = 100 * float(right[title].mean() - plain.mean())
            gains[title].append(gain)
            cells.append(f"{gain:+.1f} ({test.only_second} / {test.only_first}){'*' if test.mid_p < LEVEL else ''}")
        yield f"| {name} | {len(plain)} | {plain.mean():.1%} | " + " | ".join(cells) + " |"
    for name, summary in (("mean", np.mean), ("worst", np.min)):
        yield f"| {name} | | | " + " | ".join(f"{summary(gains[title]):+.1f}" for title in titles) + " |"


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--views", type=int, default=BUDGET)
    add_write(parser)
    args = parser.parse_args()
    place = section("benchmarks.votes", args.model, write=args.write)
    encoder = load_encoder(args.model)
    found = every_set(args.data, encoder, cache=args.cache, seed=0, views=args.views, names=SETS)
    place.show(table((one.photos.name, answers(one, labels_of(encoder, one.photos.classes))) for one in found))


if __name__ == "__main__":
    main()
