"""The classifier as it ships, on every evaluation photograph: tables of docs/results/vote.md and real-clip.md.

    python -m benchmarks.shipped --data DIR --model pocket|clip-b16 [--sets ...] [--write]
    python -m benchmarks.shipped --table --model pocket|clip-b16 [--write]

The anchored vote with adaptive views, seed 0, the views those of `viewvote eval`; zero-shot is what the source view
says in the same prediction. Every photograph is one line in benchmarks/results/shipped-MODEL.jsonl: its label, what
the source view and the vote answer, each with its probability, and how many views were looked at. An interrupted run
goes on where it stopped. --table renders what is recorded, without a model and without photographs.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.real_clip import read
from benchmarks.sections import add_write, section
from training.eval_sets import SETS, data_folder
from training.votes.views import open_photos
from viewvote import Classifier, LoadOptions, load_encoder
from viewvote.encoders import Encoder
from viewvote.metrics.calibration import reliability
from viewvote.metrics.paired import mcnemar
from viewvote.rates import wilson_interval
from viewvote.views.sample import Keyed

MODELS = ("pocket", "clip-b16")
RESULTS = Path(__file__).parent / "results"
BINS = 15
LEVEL = 0.05
PORTION = 20
"""Photographs between two writings: what a killed run loses at most."""

Line = dict[str, Any]


def records(model: str) -> Path:
    """Where the answers of a model are kept."""
    return RESULTS / f"shipped-{model}.jsonl"


@dataclass(frozen=True)
class Answered:
    """What was answered of one set: by the source view alone (zero-shot), and by the vote."""

    name: str
    plain: NDArray[np.bool_]
    plain_probability: NDArray[np.float32]
    right: NDArray[np.bool_]
    probability: NDArray[np.float32]
    views: NDArray[np.int64]


def by_set(lines: Iterable[Line]) -> list[Answered]:
    """The recorded lines of every set, in the order of the sets."""
    found: dict[str, list[Line]] = {}
    for line in lines:
        found.setdefault(line["image"].split("/")[0], []).append(line)
    return [_answered(name, found[name]) for name in SETS if name in found]


def _answered(name: str, lines: list[Line]) -> Answered:
    targets = np.array([line["target"] for line in lines])
    (plain, plain_p), (vote, vote_p) = (zip(*(line[way] for line in lines), strict=True) for way in ("source", "vote"))
    return Answered(
        name,
        np.array(plain) == targets,
        np.array(plain_p, dtype=np.float32),
        np.array(vote) == targets,
        np.array(vote_p, dtype=np.float32),
        np.array([line["views"] for line in lines]),
    )


def ece(probability: NDArray[np.float32], right: NDArray[np.bool_]) -> float:
    """The expected calibration error in per cent."""
    return 100 * reliability(probability, right, bins=BINS).ece


def table(sets: Iterable[Answered]) -> Iterator[str]:
    """One row a set; in the last row, the smallest gain, the most views and the largest errors."""
    yield "| set | n | zero-shot | default | points (gained / lost) | views | ECE, zero-shot | ECE, default |"
    yield "|---" * 8 + "|"
    rows = []
    for one in sets:
        test = mcnemar(one.plain, one.right)
        gain = 100 * float(one.right.mean() - one.plain.mean())
        rest = [float(one.views.mean()), ece(one.plain_probability, one.plain), ece(one.probability, one.right)]
        rows.append([gain, *rest])
        points = f"{gain:+.1f} ({test.only_second} / {test.only_first}){'*' if test.mid_p < LEVEL else ''}"
        shares = f"{one.plain.mean():.1%} | {one.right.mean():.1%}"
        yield f"| {one.name} | {len(one.right)} | {shares} | {points} | " + " | ".join(f"{x:.1f}" for x in rest) + " |"
    gains, *others = np.array(rows).T
    for name, gain, summary in (("mean", gains.mean(), np.mean), ("worst", gains.min(), np.max)):
        cells = [f"{gain:+.1f}", *(f"{summary(column):.1f}" for column in others)]
        yield f"| {name} | | | | " + " | ".join(cells) + " |"


def zero_shot_table(clip: Iterable[Answered], pocket: Iterable[Answered]) -> Iterator[str]:
    """The source view alone: `clip-b16` with its interval, and the embedded model beside it."""
    yield "| set | n | clip-b16 | 95% interval | pocket |"
    yield "|---|---|---|---|---|"
    embedded = {one.name: one.plain for one in pocket}
    for one in clip:
        low, high = wilson_interval(int(one.plain.sum()), len(one.plain))
        cells = f"{100 * one.plain.mean():.1f} | {100 * low:.1f} to {100 * high:.1f}"
        yield f"| {one.name} | {len(one.plain)} | {cells} | {100 * embedded[one.name].mean():.1f} |"


def measure(data: Path, encoder: Encoder, names: list[str], file: Path) -> None:
    """Add the photographs that are not recorded yet."""
    models = {encoder.model_id: encoder.fingerprint}
    done = {line["image"] for line in read(file, models)}
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a", encoding="utf-8") as out:
        if not out.tell():
            settings = {"models": models, "method": "anchored", "views": "adaptive", "templates": "photo", "seed": 0}
            print(json.dumps(settings), file=out, flush=True)
        for name in names:
            count = 0
            for count, line in enumerate(answers(data, encoder, name, done), start=1):
                print(json.dumps(line, separators=(",", ":"), ensure_ascii=False), file=out, flush=count % PORTION == 0)
            print(f"{name}: {count} answered", file=sys.stderr, flush=True)


def answers(data: Path, encoder: Encoder, name: str, done: set[str]) -> Iterator[Line]:
    """The lines of a set's photographs that are not done."""
    photos = open_photos(data, name)
    todo = [i for i in range(len(photos.paths)) if f"{name}/{photos.key(i)}" not in done]
    if not todo:
        return
    classifier = Classifier(
        encoder, labels=photos.classes, method="anchored", n_views="adaptive", templates="photo", unique_labels=False
    )
    images = [Keyed(photos.paths[i], photos.key(i), name) for i in todo]
    for i, found in zip(todo, classifier.predict_many(images), strict=True):
        assert found.trace is not None
        seen = found.trace.views
        yield {
            "image": f"{name}/{photos.key(i)}",
            "target": photos.labels[i],
            "source": [int(seen.labels[0]), round(float(seen.top_probability[0]), 6)],
            "vote": [found.index, round(found.probability, 6)],
            "views": found.views_used,
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=data_folder, help="the folder of eval/; without it, --table only")
    parser.add_argument("--model", default="pocket", choices=MODELS)
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=SETS)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--table", action="store_true", help="print what is recorded, and compute nothing")
    add_write(parser)
    args = parser.parse_args()
    places = [section("benchmarks.shipped", part, write=args.write) for part in (args.model, "zero-shot")]
    if not args.table:
        if args.data is None:
            parser.error("--data DIR is needed to measure (or --table to print what is recorded)")
        encoder = load_encoder(args.model, LoadOptions(threads=args.threads))
        measure(args.data, encoder, args.sets, records(args.model))
    places[0].show(table(by_set(read(records(args.model)))))
    pocket, clip = (by_set(read(records(model))) for model in MODELS)
    if [(one.name, len(one.right)) for one in pocket] == [(one.name, len(one.right)) for one in clip]:
        print()
        places[1].show(zero_shot_table(clip, pocket))


if __name__ == "__main__":
    main()
