"""How likely a model's answers are, and whether a photo shows a label at all: the numbers that a pack ships.

    python -m training.votes.fit_answers --data DIR --model pocket [--views 64] [--pack models/pocket]

vote  how good the probability of a vote is as it is, of all views and of as many as an image needs, and with numbers
      fitted on the training photographs with ImageNet's names, which made most other sets worse: so none are shipped
none  "none of these", on the same photographs asked about random label sets with and without their own; one half is
      where one in twenty photographs that do show a label is refused
each  each label alone (`training.votes.fit_each`)

The evaluation sets are measured, never fitted to. Names of the background that equal a label of the set are left out
there, so that a photo of a removed label is not recognised by its own name. Without views of the training photographs
nothing is fitted, and what ships is measured; with fewer than 64 views an image's rounds end there.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from math import log2
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.sections import add_write, section
from training.votes.against import Background, Float64, logistic
from training.votes.fit_each import EACH_VIEWS, fit_each
from training.votes.things import THINGS
from training.votes.views import (
    BUDGET,
    FLICKR,
    TRAIN,
    Labels,
    Seen,
    arguments,
    every_set,
    labels_of,
    open_photos,
    seen,
)
from viewvote import load_encoder
from viewvote.classify.background import MarginFit, margins
from viewvote.classify.calibration import MOST, margin_fit
from viewvote.classify.likelihood import likelihood_of
from viewvote.classify.none_of_these import NONE, UNFITTED, none_probability
from viewvote.encoders.text_head import TextHead
from viewvote.methods.anchored import Anchored
from viewvote.methods.baselines import ZeroShot
from viewvote.methods.zero import Zero
from viewvote.metrics.calibration import reliability
from viewvote.metrics.fit_probability import BLENDS, Answers, fit_probability
from viewvote.metrics.selective import risk_coverage
from viewvote.probability import ProbabilityFit, led_by, source_part
from viewvote.stopping.adaptive import Adaptive
from viewvote.stopping.rules import Confident

REFUSED = 0.05
SIZES = (2, 4, 8, 16, 32, 64, 128, 256, 500)
BINS = 15
PLAIN = "as it ships"


def answers_of(found: Seen, labels: Labels) -> Answers:
    """What `fit_probability` sees of a set's anchored votes."""
    rows, right = [], []
    for place, features in zip(found.places.tolist(), found.features, strict=True):
        views = labels.views(features)
        decision = Anchored().decide(views)
        probabilities = np.exp(views.logp.astype(np.float64))
        kept = probabilities[decision.views.kept]
        parts = [source_part(source, len(kept)) for source in BLENDS]
        mean = kept.mean(axis=0)
        blends = (led_by(part * probabilities[0] + (1 - part) * mean, decision.index) for part in parts)
        rows.append([float(blend[decision.index]) for blend in blends])
        right.append(decision.index == found.photos.labels[place])
    table = np.array(rows)
    keys = tuple(map(found.photos.key, found.places.tolist()))
    before = np.array(table[:, BLENDS.index(0.5)], dtype=np.float32)
    return Answers(keys, np.array(right), before, dict(zip(BLENDS, table.T, strict=True)))


def measure_answers(found: Seen, labels: Labels, fits: dict[str, ProbabilityFit], rule: Confident | None) -> str:
    """A line of the table: accuracy, calibration error and risk of each way to answer."""
    said: dict[str, list[tuple[bool, float]]] = {}
    looked: list[int] = []
    for place, features in zip(found.places.tolist(), found.features, strict=True):
        views, target = labels.views(features), found.photos.labels[place]
        plain = ZeroShot().decide(views)
        said.setdefault("zero-shot", []).append((plain.index == target, plain.confidence))
        vote = Zero().decide(views)
        said.setdefault("ZERO's share", []).append((vote.index == target, vote.confidence))
        decision = Anchored().decide(views)
        for name, fit in fits.items():
            probability, _ = likelihood_of(decision, views, fit=fit)
            said.setdefault(name, []).append((decision.index == target, probability))
        if rule is not None:
            views = labels.looked_at(features, Anchored(), rule)
            decision = Anchored().decide(views)
            probability, _ = likelihood_of(decision, views, fit=fits[PLAIN])
            said.setdefault("default", []).append((decision.index == target, probability))
            looked.append(len(views))
    cells = [f"{np.mean(looked):.1f}"] if looked else []
    for pairs in said.values():
        right, sure = np.array([hit for hit, _ in pairs]), np.array([probability for _, probability in pairs])
        curve = risk_coverage(sure.astype(np.float32), right)
        ece = reliability(sure, right, bins=BINS).ece
        cells.append(f"{right.mean():.1%} {100 * ece:.1f} {100 * curve.aurc:.1f} {curve.coverage_at(0.05):.0%}")
    return f"| {found.photos.name} | {len(found.places)} | " + " | ".join(cells) + " |"


def answers_table(
    sets: list[Seen], heads: dict[str, Labels], fits: dict[str, ProbabilityFit], *, model: str
) -> Iterator[str]:
    """The table of `measure_answers`; the default's thresholds are of 64 views."""
    whole = sets[0].features.shape[1] == BUDGET
    rule = Adaptive().rule(Anchored().keep, vote="anchored", model=model) if whole else None
    named = [f"anchored, {sets[0].features.shape[1]} views" if name == PLAIN else name for name in fits]
    titles = ["set", "n", *(["views of the default"] if whole else []), "zero-shot", "ZERO, share of votes", *named]
    titles += ["default"] if whole else []
    yield f"| {' | '.join(titles)} |"
    yield "|---" * len(titles) + "|"
    for one in sets:
        yield measure_answers(one, heads[one.photos.name], fits, rule)


def part_of(labels: Labels, chosen: NDArray[np.int64]) -> Labels:
    """The same model asked about some of the labels."""
    return replace(labels, head=TextHead(labels.head.features[chosen], cached=True))


def none_cases(found: Seen, labels: Labels, background: Background, *, seed: int) -> Iterator[tuple[float, int, bool]]:
    """The best margin, the number of labels, and whether the photo shows one, for random label sets."""
    rng = np.random.default_rng(seed)
    targets = np.array(found.photos.labels)[found.places]
    total = len(found.photos.classes)
    for size in SIZES:
        chosen = rng.permutation(total)[:size]
        head = background.head(part_of(labels, chosen))
        for i in rng.permutation(len(targets)):
            own = targets[i] not in chosen and rng.random() < 0.5
            asked = np.append(chosen[1:], targets[i]) if own else chosen
            source = found.features[i, :1]
            logits = TextHead(labels.head.features[asked], cached=True).logits(source, labels.encoder)
            margin = margins(logits, head.logits(source, labels.encoder)).max()
            yield float(margin), size, bool(np.isin(targets[i], asked))


def fit_none(found: Seen, labels: Labels, background: Background) -> MarginFit:
    """The fit of "none of these": a logistic regression, shifted to where few are refused wrongly."""
    cases = list(none_cases(found, labels, background, seed=0))
    design = np.array([[margin, log2(size), 1.0] for margin, size, _ in cases])
    shown = np.array([there for *_, there in cases])
    slope, per_doubling, _ = logistic(design, ~shown)
    odds = slope * design[:, 0] + per_doubling * design[:, 1]
    offset = -float(np.quantile(odds[shown], 1 - REFUSED))
    return MarginFit(round(slope, 4), round(offset, 4), round(per_doubling, 4), 0.5)


def measure_none(found: Seen, labels: Labels, background: Background, fit: MarginFit) -> str:
    """AUROC and what is refused on a set half of whose labels are removed, five times."""
    rng = np.random.default_rng(1)
    targets, total = np.array(found.photos.labels)[found.places], len(found.photos.classes)
    areas, refused, caught, at_five = [], [], [], []
    for _ in range(5):
        chosen = rng.permutation(total)[: max(1, total // 2)]
        some = part_of(labels, chosen)
        head = background.head(some, without=found.photos.classes)
        there = np.isin(targets, chosen)
        source = found.features[:, 0]
        logits, against = some.head.logits(source, labels.encoder), head.logits(source, labels.encoder)
        none = np.array([none_probability(a, b, fit) for a, b in zip(logits, against, strict=True)])
        areas.append(auroc(none[~there], none[there]))
        refused.append((none[there] >= fit.least).mean())
        caught.append((none[~there] >= fit.least).mean())
        at_five.append((none[~there] > np.quantile(none[there], 1 - REFUSED)).mean())
    means = [100 * float(np.mean(each)) for each in (areas, refused, caught, at_five)]
    return f"| {found.photos.name} | {len(targets)} | " + " | ".join(f"{mean:.1f}" for mean in means) + " |"


def none_table(rows: Iterable[str]) -> Iterator[str]:
    """The table of `measure_none`."""
    yield "| set | n | AUROC | refused wrongly | removed ones refused | the same where 5% are refused wrongly |"
    yield "|---|---|---|---|---|---|"
    yield from rows


def auroc(positive: Float64, negative: Float64) -> float:
    """The chance that one of the first is above one of the second."""
    above = (positive[:, None] > negative[None]).mean()
    return float(above + 0.5 * (positive[:, None] == negative[None]).mean())


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--views", type=int, default=BUDGET)
    parser.add_argument("--pack", type=Path, help="write the numbers into the viewvote.json of this folder")
    add_write(parser)
    args = parser.parse_args()
    parts = (args.model, f"{args.model}, none of these")
    places = [section("training.votes.fit_answers", part, write=args.write) for part in parts]
    encoder, background = load_encoder(args.model), Background(load_encoder(args.model))
    made: dict[str, dict[str, float]] = {}
    same = {"cache": args.cache, "seed": 0}

    plain = ProbabilityFit(most=MOST)
    sets = list(every_set(args.data, encoder, views=args.views, **same))
    heads = {one.photos.name: labels_of(encoder, one.photos.classes) for one in sets}
    fits, none = {PLAIN: plain}, margin_fit(encoder, NONE, otherwise=UNFITTED)
    train = next((one for one in sets if one.photos.name == TRAIN), None)
    if train is not None:
        fits["fitted"] = fit_probability(answers_of(train, heads[TRAIN]))
        print(f"vote: {plain}; fitted on {len(train.places)} photographs: {fits['fitted']}\n")
        none = fit_none(train, heads[TRAIN], background)
        made["none"] = asdict(none)
    print("Accuracy, calibration error, area under risk and coverage, coverage at 5% risk, each in %:\n")
    places[0].show(answers_table(sets, heads, fits, model=encoder.model_id))
    print(f"\nnone: {none}\n\nHalf of the labels removed, five times:\n")
    places[1].show(none_table(measure_none(one, heads[one.photos.name], background, none) for one in sets))

    flickr = seen(encoder, open_photos(args.data, FLICKR), views=EACH_VIEWS, **same)
    if flickr is not None:
        each, scores = fit_each(args.data, flickr, labels_of(encoder, tuple(THINGS)), background)
        made["each"] = asdict(each)
        print(f"\neach: {each}\n{scores}")
    if args.pack is not None:
        path = args.pack / "viewvote.json"
        settings = json.loads(path.read_text(encoding="utf-8"))
        settings["calibration"] = settings.get("calibration", {}) | made
        path.write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
