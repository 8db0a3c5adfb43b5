"""Yes or no for each label alone, on the photographs with captions: the fit that a pack ships, and how good it is.

    python -m training.votes.views --data DIR --model pocket --seeds 0 --sets flickr8k --views 4 --limit 800
    python -m training.votes.fit_each --data DIR --model pocket [--write]

A label is there where two of five captions name it. One half of the photographs chooses slope, offset and threshold,
the other is scored.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.sections import add_write, section
from training.votes.against import Background, logistic
from training.votes.things import THINGS
from training.votes.views import FLICKR, Labels, Seen, arguments, labels_of, open_photos, seen
from viewvote import load_encoder
from viewvote.classify.background import MarginFit
from viewvote.classify.each_label import each_probability

EACH_VIEWS = 4


@dataclass(frozen=True)
class Scores:
    """Of the half that did not choose: photographs, labels shown on each, and how well they are found."""

    n: int
    shown: float
    f1: float
    precision: float
    recall: float


def captioned(data: Path, found: Seen) -> NDArray[np.bool_]:
    """Which things two or more of a photo's captions name (images, things)."""
    captions: dict[str, list[str]] = {}
    with (data / "train" / "flickr8k" / "captions.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            captions.setdefault(row["image"], []).append(row["caption"].lower())
    patterns = [re.compile(rf"\b({'|'.join(words.split())})\b") for words in THINGS.values()]
    names = [found.photos.paths[i].name for i in found.places]
    return np.array([[sum(bool(p.search(c)) for c in captions[name]) >= 2 for p in patterns] for name in names])


def fit_each(data: Path, found: Seen, labels: Labels, background: Background) -> tuple[MarginFit, Scores]:
    """The fit of each label alone on one half of the photographs, and what it does on the other."""
    head, there = background.head(labels), captioned(data, found)
    first = np.arange(len(there)) % 2 == 0
    logits = [labels.head.logits(one, labels.encoder) for one in found.features]
    against = [head.logits(one, labels.encoder) for one in found.features]
    plain = MarginFit(1.0, 0.0)
    odds = np.array([each_probability(a, b, plain) for a, b in zip(logits, against, strict=True)]).astype(np.float64)
    margin = np.log(odds) - np.log1p(-odds)
    design = np.stack([margin[first].ravel(), np.ones(margin[first].size)], axis=1)
    slope, offset = logistic(design, there[first].ravel())
    probability = 1 / (1 + np.exp(-(slope * margin + offset)))
    least = max(np.arange(0.05, 0.9, 0.05), key=lambda limit: f1(probability[first] >= limit, there[first]))
    fit = MarginFit(round(slope, 4), round(offset, 4), 0.0, round(float(least), 2))
    rest = probability[~first] >= least
    found_part = there[~first][rest].mean()
    scores = Scores(
        int((~first).sum()),
        float(there.sum(axis=1).mean()),
        f1(rest, there[~first]),
        float(found_part),
        float(rest[there[~first]].mean()),
    )
    return fit, scores


def f1(said: NDArray[np.bool_], there: NDArray[np.bool_]) -> float:
    both = int((said & there).sum())
    return 2 * both / max(1, int(said.sum() + there.sum()))


def table(fit: MarginFit, scores: Scores) -> Iterator[str]:
    """The lines of the table."""
    yield "| photographs | labels | shown on average | threshold | F1 | precision | recall |"
    yield "|---:|---:|---:|---:|---:|---:|---:|"
    found = f"{scores.f1:.3f} | {scores.precision:.3f} | {scores.recall:.3f}"
    yield f"| {scores.n} | {len(THINGS)} | {scores.shown:.1f} | {fit.least} | {found} |"


def main() -> None:
    parser = arguments(__doc__)
    add_write(parser)
    args = parser.parse_args()
    place = section("training.votes.fit_each", args.model, write=args.write)
    encoder = load_encoder(args.model)
    found = seen(encoder, open_photos(args.data, FLICKR), cache=args.cache, seed=0, views=EACH_VIEWS)
    if found is None:
        parser.error("no views of flickr8k are in the cache: the first command above makes them.")
    fit, scores = fit_each(args.data, found, labels_of(encoder, tuple(THINGS)), Background(encoder))
    print(f"{fit}\n")
    place.show(table(fit, scores))


if __name__ == "__main__":
    main()
