"""ZERO on every image of every set, beside zero-shot: the first table of docs/results/comparison.md.

    python -m benchmarks.every_image --data DIR --model pocket [--views 64] [--cache runs/votes] [--write]

The cache is filled by `python -m training.votes.views`. Top-1 accuracy in per cent with 95% Wilson intervals; a star
marks a difference to zero-shot on the same images (McNemar's mid-p below 0.05, not corrected for many tests).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from benchmarks.sections import add_write, section
from training.eval_sets import SETS
from training.votes.views import BUDGET, Labels, Seen, arguments, every_set, labels_of
from viewvote import load_encoder
from viewvote.methods.zero import Zero
from viewvote.metrics.paired import mcnemar
from viewvote.rates import wilson_interval

LEVEL = 0.05
KEEPS = (0.1, 0.3)

Right = Mapping[float, NDArray[np.bool_]]
"""Which images ZERO gets right for each share of kept views; 0 is zero-shot."""


def right_of(found: Seen, labels: Labels) -> Right:
    """What the views of one set say."""
    targets = np.array(found.photos.labels)[found.places]
    seen = [labels.views(features) for features in found.features]
    plain = np.array([int(views.labels[0]) for views in seen]) == targets
    voted = {keep: np.array([Zero(keep=keep).decide(views).index for views in seen]) == targets for keep in KEEPS}
    return {0.0: plain, **voted}


def table(by_set: Iterable[tuple[str, int, Right]]) -> Iterator[str]:
    """One row a set, of its name, its number of labels and which images are right; p is of the larger keep."""
    yield "| set | labels | n | zero-shot | " + " | ".join(f"ZERO, keep {keep}" for keep in KEEPS) + " | p |"
    yield "|---" * (len(KEEPS) + 5) + "|"
    for name, classes, right in by_set:
        tests = {keep: mcnemar(right[0.0], right[keep]) for keep in KEEPS}
        stars = {keep: "*" if test.mid_p < LEVEL else "" for keep, test in tests.items()}
        cells = [share(hits, mark=stars.get(keep, "")) for keep, hits in right.items()]
        last = tests[KEEPS[-1]]
        p = f"{last.mid_p:.3f} ({last.only_second} gained, {last.only_first} lost)"
        yield f"| {name} | {classes} | {len(right[0.0])} | {' | '.join(cells)} | {p} |"


def share(right: NDArray[np.bool_], *, mark: str) -> str:
    """The accuracy with its interval."""
    low, high = wilson_interval(int(right.sum()), len(right))
    return f"{100 * right.mean():.1f}{mark} ({100 * low:.1f}-{100 * high:.1f})"


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--views", type=int, default=BUDGET)
    add_write(parser)
    args = parser.parse_args()
    place = section("benchmarks.every_image", args.model, write=args.write)
    encoder = load_encoder(args.model)
    found = every_set(args.data, encoder, cache=args.cache, seed=0, views=args.views, names=SETS)
    labelled = ((one, labels_of(encoder, one.photos.classes)) for one in found)
    place.show(table((one.photos.name, len(one.photos.classes), right_of(one, labels)) for one, labels in labelled))


if __name__ == "__main__":
    main()
