"""When the votes of a model may stop: thresholds for each kind of vote, keep and accepted rate, from cached views.

    python -m training.votes.fit_stops --data DIR --model pocket --out FILE [--noise votes=0.046,anchored=0.03]
                                       [--write]

All sets together choose what ships; the table that is printed has each set on thresholds that the others chose: how
often two seeds of all 64 views differ, and for each level the views, how often the answer differs and the accuracy. The
rate of the level "noise" is how often two seeds differ; for a model with views of one seed it is given (--noise).
--out is a file of `viewvote calibrate-stop`, such as the one that ships; what it has of other models stays.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

from benchmarks.sections import add_write, section
from training.votes.views import BUDGET, Labels, Seen, arguments, every_set, labels_of
from viewvote import load_encoder
from viewvote.methods import ViewLogits
from viewvote.methods.anchored import Anchored
from viewvote.methods.zero import Zero
from viewvote.stopping.adaptive import NOISE, STRICT, STRICT_RATE, Vote
from viewvote.stopping.calibrate import Replay, calibrate, joined, outcome, seed_noise
from viewvote.stopping.rules import adaptive_rounds, standing

KEEPS = (0.3, 0.1, 0.5, 1.0)
RATES = (STRICT_RATE, 0.02, 0.05)
ROUNDS = adaptive_rounds(BUDGET)
SEEDS = (0, 1)
TITLES: dict[Vote, str] = {"anchored": "anchored", "votes": "ZERO"}
MODELS = ("pocket", "clip-b16")
"""Their order in the file: a model without thresholds of its own gets those of the first."""


def replay_of(found: Seen, labels: Labels, *, keep: float, vote: Vote) -> Replay:
    """The rounds of every image of a set."""
    method = Anchored(keep=keep) if vote == "anchored" else Zero(keep=keep)
    answers, support = np.zeros((2, len(found.places), len(ROUNDS)))
    for i, features in enumerate(found.features):
        every = labels.views(features)
        say = method.say(every)
        sure = float(every.top_probability[0])
        for j, n in enumerate(ROUNDS):
            views = ViewLogits(every.logits[:n], likeness=labels.likeness)
            answers[i, j] = method.decide(views).index
            support[i, j] = standing(views.labels, views.order, keep=keep, say=say, sure=sure)
    keys = tuple(f"{found.photos.name}/{found.photos.key(i)}" for i in found.places.tolist())
    targets = np.array(found.photos.labels)[found.places]
    return Replay(keys, targets, keep, ROUNDS, answers.astype(np.int64), support, vote)


def left_out(by_set: dict[str, list[Replay]], **how: object) -> dict[str, dict[str, float]]:
    """What becomes of each set on the thresholds that the others choose."""
    found = {}
    for name, replays in by_set.items():
        others = [each for other, group in by_set.items() if other != name for each in group]
        if others:
            chosen = calibrate(joined(others), provenance={}, **how)  # type: ignore[arg-type]
            found[name] = outcome(joined(replays), chosen.thresholds).to_dict()
            if len(replays) > 1:
                found[name]["seeds"] = seed_noise(replays).value
    return found


def table(measured: dict[Vote, dict[str, dict[str, dict[str, float]]]], levels: Sequence[str]) -> Iterator[str]:
    """A line for each set, of what `left_out` found by vote and level."""
    shown = " | ".join(f"`{level}`" for level in levels)
    yield "| set | n | " + " | ".join(f"{TITLES[vote]}, all 64 | seeds | {shown}" for vote in measured) + " |"
    yield "|---" * (2 + len(measured) * (2 + len(levels))) + "|"
    for name, first in next(iter(measured.values()))[levels[0]].items():
        cells = [name, str(first["n"])]
        for by_level in measured.values():
            outcomes = [by_level[level][name] for level in levels]
            seeds = outcomes[0].get("seeds")
            cells += [f"{outcomes[0]['full_accuracy']:.1%}", "-" if seeds is None else f"{seeds:.1%}"]
            cells += [f"{one['views_used']:.1f}, {1 - one['agreement']:.1%}, {one['accuracy']:.1%}" for one in outcomes]
        yield "| " + " | ".join(cells) + " |"


def others_in(path: Path, model: str) -> list[dict[str, object]]:
    """The calibrations of other models in a file."""
    rows: list[dict[str, object]] = json.loads(path.read_text(encoding="utf-8"))["calibrations"]
    return [row for row in rows if row["model"] != model]


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--noise", default="", help="rates of the level noise, where only one seed is there")
    parser.add_argument("--out", type=Path, required=True)
    add_write(parser)
    args = parser.parse_args()
    place = section("training.votes.fit_stops", args.model, write=args.write)
    given = {vote: float(rate) for vote, _, rate in (pair.partition("=") for pair in args.noise.split(",") if pair)}
    encoder = load_encoder(args.model)
    sets: dict[str, list[tuple[Seen, Labels]]] = {}
    for seed in SEEDS:
        for found in every_set(args.data, encoder, cache=args.cache, seed=seed, views=BUDGET):
            sets.setdefault(found.photos.name, []).append((found, labels_of(encoder, found.photos.classes)))
    counts = {name: [len(found.places) for found, _ in group] for name, group in sets.items()}
    provenance = {"images": counts, "seeds": list(SEEDS), "made_by": "training/votes/fit_stops.py"}
    made = []
    measured: dict[Vote, dict[str, dict[str, dict[str, float]]]] = {vote: {} for vote in TITLES}
    for vote in TITLES:
        for keep in KEEPS:
            by_set = {
                name: [replay_of(found, labels, keep=keep, vote=vote) for found, labels in group]
                for name, group in sets.items()
            }
            together = joined([one for group in by_set.values() for one in group])
            noises = [seed_noise(group) for group in by_set.values() if len(group) > 1]
            n = sum(rate.n for rate in noises)
            noise = given[vote] if vote in given else round(sum(rate.value * rate.n for rate in noises) / n, 4)
            for rate, level in ((noise, NOISE), *((rate, None) for rate in RATES)):
                if rate < STRICT_RATE:  # votes so steady take the thresholds of `strict`; fewer records would not show
                    print(f"{vote}, keep {keep:g}: two seeds differ in {rate:.2%} of {n}; no level of its own")
                    continue
                how = {"disagreement": rate, "level": level, "model": encoder.model_id}
                one = calibrate(together, provenance=provenance, **how)  # type: ignore[arg-type]
                made.append(asdict(one))
                if keep == KEEPS[0]:
                    name = level or (STRICT if rate == STRICT_RATE else f"{rate:.0%}")
                    print(f"{vote}, keep {keep:g}, {name} ({rate:.1%}): {one.thresholds}", flush=True)
                    measured[vote][name] = left_out(by_set, **how)
    fitted = [name for name in measured["votes"] if name in measured["anchored"]]
    place.show(table(measured, [name for name in fitted if name in (NOISE, STRICT)]))
    print(*table(measured, [name for name in fitted if name not in (NOISE, STRICT)]), sep="\n")
    if args.out.exists():
        made = others_in(args.out, encoder.model_id) + made
    made.sort(key=lambda one: MODELS.index(one["model"]) if one["model"] in MODELS else len(MODELS))
    lines = ",\n".join(json.dumps(one) for one in made)
    args.out.write_text(f'{{"calibrations": [\n{lines}\n]}}\n', encoding="utf-8")


if __name__ == "__main__":
    main()
