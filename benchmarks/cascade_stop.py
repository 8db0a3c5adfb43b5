"""Adaptive views in a cascade: how often its answer differs from that of all 64 views, and what it costs.

    python -m benchmarks.cascade_stop --data DIR [--model pocket] [--teacher clip-b16] [--cache runs/votes] [--write]

Thresholds are those that ship, fitted without a teacher. The cache is filled by `python -m training.votes.views`, for
both models with 64 views; photographs that both have seen count.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from benchmarks.sections import add_write, section
from training.eval_sets import SETS
from training.votes.views import BUDGET, Labels, arguments, labels_of, open_photos, seen
from viewvote import load_encoder
from viewvote.arrays import Float32, Int64
from viewvote.methods import ViewLogits
from viewvote.methods.anchored import Anchored
from viewvote.methods.zero import Zero
from viewvote.rates import rate_of
from viewvote.stopping import Adaptive, Confident
from viewvote.stopping.options import vote_of
from viewvote.vote import RankedViews

METHODS = (Anchored(), Zero())
LEVELS = ("noise", "strict")


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--teacher", default="clip-b16")
    add_write(parser)
    args = parser.parse_args()
    page = section("benchmarks.cascade_stop", write=args.write)
    student, teacher = load_encoder(args.model), load_encoder(args.teacher)
    found: dict[tuple[str, str], list[tuple[int, int, int, int, int, int]]] = {}
    for name in SETS:
        photos = open_photos(args.data, name)
        mine, its = (seen(one, photos, cache=args.cache, seed=0, views=BUDGET) for one in (student, teacher))
        if mine is None or its is None:
            continue
        labels, taught = labels_of(student, photos.classes), labels_of(teacher, photos.classes)
        for place in np.intersect1d(mine.places, its.places).tolist():
            views = labels.views(mine.features[mine.places == place][0])
            known = taught.views(its.features[its.places == place][0]).logits
            for method in METHODS:
                whole, most = answer(method, views, known, taught)
                for level in LEVELS:
                    rule = Adaptive(disagreement=level).rule(method.keep, vote=vote_of(method), model=student.model_id)
                    used, early = views_needed(rule, method, views, known, taught)
                    said, late = answer(method, first(views, used), known, taught)
                    asked = len(early | late)
                    row = (used, asked, len(most), said, whole, photos.labels[place])
                    found.setdefault((method.name, level), []).append(row)
    print(f"{len(next(iter(found.values()), []))} photographs that both have seen")
    page.show(table(found))


def table(found: dict[tuple[str, str], list[tuple[int, int, int, int, int, int]]]) -> Iterator[str]:
    """A line for each vote and level; rows are views, asked of the teacher, asked of all 64, both answers, target."""
    yield "| vote | level | views | asked of the teacher (of all 64) | other answers (95%) | accuracy (all 64) |"
    yield "|---|---|---:|---:|---:|---:|"
    for (name, level), rows in found.items():
        used, asked, most, said, whole, target = np.array(rows).T
        rate = rate_of(said != whole, np.ones(len(rows), dtype=bool))
        interval = f"{100 * rate.low:.1f}-{100 * rate.high:.1f}"
        yield (
            f"| {name.replace('zero', 'ZERO')} | `{level}` | {used.mean():.1f} "
            f"| {asked.mean():.1f} ({most.mean():.1f}) | {rate.value:.1%} ({interval}) "
            f"| {np.mean(said == target):.1%} ({np.mean(whole == target):.1%}) |"
        )


def first(views: ViewLogits, n: int) -> ViewLogits:
    """The first views of an image."""
    return replace(views, logits=views.logits[:n], features=None)


def in_cascade(views: ViewLogits, known: Float32, taught: Labels, asked: set[int]) -> ViewLogits:
    """The views with a teacher to ask, who notes in `asked` which it was asked about."""

    def teacher(chosen: Int64) -> NDArray[np.float32]:
        asked.update(chosen.tolist())
        rows: NDArray[np.float32] = known[chosen]
        return rows

    scale, bias = taught.encoder.logit_scale, taught.encoder.logit_bias
    return replace(views, teacher=teacher, teacher_scale=scale, teacher_bias=bias, likeness=taught.likeness)


def answer(method: Anchored | Zero, views: ViewLogits, known: Float32, taught: Labels) -> tuple[int, set[int]]:
    """The cascade's class, and the views that the teacher was asked about."""
    asked: set[int] = set()
    return method.decide(in_cascade(views, known, taught, asked)).index, asked


def views_needed(
    rule: Confident, method: Anchored | Zero, views: ViewLogits, known: Float32, taught: Labels
) -> tuple[int, set[int]]:
    """After how many views the rule ends it, as an image task asks it, and the views that the teacher was asked about.

    Where the student's labels settle it, the teacher's of the kept views must do so too.
    """
    sure, asked = float(views.top_probability[0]), set[int]()
    surely = float(RankedViews(known[:1]).top_probability[0])
    for n in rule.rounds[:-1]:
        few = first(views, n)
        say = method.say(in_cascade(few, known, taught, asked)) if method.has_say else None
        if not rule.settled(few.labels, few.order, say=say, sure=sure):
            continue
        kept, labels = few.most_confident(rule.keep), few.labels.copy()
        asked.update(kept.tolist())
        labels[kept] = known[kept].argmax(axis=-1)
        if rule.settled(labels, few.order, say=say, sure=surely):
            return n, asked
    return rule.rounds[-1], asked


if __name__ == "__main__":
    main()
