"""Other forms of the anchored vote on the same views: the table "What else was tried" of docs/results/vote.md.

    python -m benchmarks.vote_forms --data DIR --model pocket [--views 64] [--cache runs/votes] [--write]

The cache is filled by `python -m training.votes.views`. A form is a function of one image's views that returns its
answer; a row is a form over all sets: the points gained over zero-shot on average and in the worst set, and the images
gained / lost over all sets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from benchmarks.sections import add_write, section
from training.eval_sets import SETS
from training.votes.views import BUDGET, Labels, Seen, arguments, every_set, labels_of
from viewvote import load_encoder
from viewvote.methods import ViewLogits
from viewvote.methods.anchored import Anchored, weight_for
from viewvote.methods.zero import Zero
from viewvote.metrics.paired import mcnemar
from viewvote.vote import tally

Form = Callable[[ViewLogits], int]
Right = Mapping[str, NDArray[np.bool_]]
KEEP = Anchored().keep
PLAIN = "zero-shot"
SHIPPED = f"**as it ships**: keep {KEEP}, w = 1 / (1 - r)^5"


def anchored(*, keep: float = KEEP, weight: float | None = None, times: float = 1.0) -> Form:
    """The package's vote; its own weight may be multiplied."""

    def decide(views: ViewLogits) -> int:
        own = weight_for(views.likeness) if weight is None else weight
        return Anchored(keep=keep, weight=times * own).decide(views).index

    return decide


def softened(part: float) -> Form:
    """The vote, of whose shares a part is replaced by the kept views' mean probabilities."""

    def decide(views: ViewLogits) -> int:
        kept = views.most_confident(KEEP)
        source, mean = probabilities(views, np.array([0])), probabilities(views, kept)
        shares = tally(views.labels[kept], views.logits.shape[1]) / len(kept)
        return int(((1 - part) * shares + part * mean + weight_for(views.likeness) * source).argmax())

    return decide


def averaged(part: float) -> Form:
    """No vote: the source view's probabilities have this part, the kept views' mean the rest."""

    def decide(views: ViewLogits) -> int:
        source, mean = probabilities(views, np.array([0])), probabilities(views, views.most_confident(KEEP))
        return int((part * source + (1 - part) * mean).argmax())

    return decide


def tempered(power: float) -> Form:
    """The vote with p(source) times a power of its maximum: below 0, an unsure source view has more say."""

    def decide(views: ViewLogits) -> int:
        own = weight_for(views.likeness) * float(views.top_probability[0]) ** power
        return Anchored(weight=own).decide(views).index

    return decide


FORMS: Mapping[str, Form] = {
    "ZERO": lambda views: Zero().decide(views).index,
    SHIPPED: anchored(),
    "w = 1 for all labels": anchored(weight=1),
    "w = 1.5 for all labels": anchored(weight=1.5),
    "w = 2 for all labels": anchored(weight=2),
    "a quarter of the votes replaced by mean probabilities": softened(0.25),
    "half of the votes replaced by them": softened(0.5),
    "all votes replaced by them": softened(1),
    "no vote: 0.5 p(source) + 0.5 mean of the kept views": averaged(0.5),
    "no vote: 0.6 p(source) + 0.4 mean of the kept views": averaged(0.6),
    "p(source) divided by the square root of its maximum": tempered(-0.5),
    "p(source) divided by its maximum": tempered(-1),
    "p(source) times the square root of its maximum": tempered(0.5),
    "keep 0.1": anchored(keep=0.1),
    "keep 0.5": anchored(keep=0.5),
    "keep 0.7": anchored(keep=0.7),
    "keep 1": anchored(keep=1),
    "keep 0.5, w times 0.7": anchored(keep=0.5, times=0.7),
    "keep 0.7, w times 0.7": anchored(keep=0.7, times=0.7),
    "keep 0.7, w times 0.5": anchored(keep=0.7, times=0.5),
}


def probabilities(views: ViewLogits, chosen: NDArray[np.int64]) -> NDArray[np.float64]:
    """The mean of the chosen views' probabilities (classes,)."""
    mean: NDArray[np.float64] = np.exp(views.logp[chosen].astype(np.float64)).mean(axis=0)
    return mean


def right_of(found: Seen, labels: Labels) -> Right:
    """Which images each form gets right, and the source view alone."""
    forms: Mapping[str, Form] = {PLAIN: lambda views: int(views.labels[0]), **FORMS}
    targets = np.array(found.photos.labels)[found.places]
    seen = [labels.views(features) for features in found.features]
    return {name: np.array([form(views) for views in seen]) == targets for name, form in forms.items()}


def table(by_set: Iterable[Right]) -> Iterator[str]:
    """One row a form, from which images of each set it gets right."""
    sets = list(by_set)
    yield "| vote | mean | worst | gained / lost |"
    yield "|---|---|---|---|"
    for name in FORMS:
        gains = [100 * float(right[name].mean() - right[PLAIN].mean()) for right in sets]
        tests = [mcnemar(right[PLAIN], right[name]) for right in sets]
        changed = f"{sum(test.only_second for test in tests)} / {sum(test.only_first for test in tests)}"
        yield f"| {name} | {np.mean(gains):+.1f} | {min(gains):+.1f} | {changed} |"


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--views", type=int, default=BUDGET)
    add_write(parser)
    args = parser.parse_args()
    place = section("benchmarks.vote_forms", args.model, write=args.write)
    encoder = load_encoder(args.model)
    found = every_set(args.data, encoder, cache=args.cache, seed=0, views=args.views, names=SETS)
    place.show(table(right_of(one, labels_of(encoder, one.photos.classes)) for one in found))


if __name__ == "__main__":
    main()
