"""How often names are taken for nonsense, and nonsense for names (docs/results/probability.md).

    python -m training.votes.nonsense --data DIR [--write]

False alarms: the class lists that ship, whose words are known, with and without that; names and caption words that it
knows nothing of. Hits: made-up labels of several kinds.
"""

from __future__ import annotations

import csv
import json
import random
import re
import string
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from benchmarks.sections import add_write, section
from training.votes.views import arguments
from viewvote.datasets.catalog import class_list, class_list_names
from viewvote.labels import nonsense

N = 200
ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
CAPTIONED = 3


def other_names(data: Path) -> Iterator[tuple[str, list[str]]]:
    """Names that do not ship: LVIS, Objects365, and words of captions (that three photographs have)."""
    folder = data / "metadata" / "clip_b32_text"
    lvis = json.loads((folder / "lvis1203_names.json").read_text(encoding="utf-8"))
    yield "of LVIS", [entry["synonyms"][0].replace("_", " ") for entry in lvis]
    lines = (folder / "objects365_names.csv").read_text(encoding="utf-8").splitlines()
    yield "of Objects365", [line.split(",")[-1].strip() for line in lines]
    counts: Counter[str] = Counter()
    with (data / "train" / "flickr8k" / "captions.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            counts.update(set(re.findall("[a-z]+", row["caption"].lower())))
    yield "words of captions", [word for word, count in counts.items() if count >= CAPTIONED]


def made_up(rng: random.Random) -> Iterator[tuple[str, list[str]]]:
    """Labels that mean nothing."""

    def letters(low: int, high: int) -> str:
        return "".join(rng.choice(string.ascii_lowercase) for _ in range(rng.randint(low, high)))

    def row_of_keys() -> str:
        row, n = rng.choice(ROWS), rng.randint(4, 8)
        start = rng.randrange(max(1, len(row) - n + 1))
        return row[start : start + n] if rng.random() < 0.5 else "".join(rng.choice(row) for _ in range(n))

    def syllables() -> str:
        return "".join(rng.choice("bcdfghjklmnprstvwz") + rng.choice("aeiou") for _ in range(rng.randint(2, 4)))

    yield "made up: 4 to 10 random letters", [letters(4, 10) for _ in range(N)]
    yield "made up: two words of 3 to 7 letters", [f"{letters(3, 7)} {letters(3, 7)}" for _ in range(N)]
    yield "made up: a row of keys", [row_of_keys() for _ in range(N)]
    yield "made up: syllables", [syllables() for _ in range(N)]


def row(name: str, labels: Iterable[str]) -> str:
    """A line of the table, with the first of those that are taken for nonsense."""
    every = list(labels)
    found = [label for label in every if nonsense.is_nonsense(label)]
    return f"| {name} | {len(every):,} | {len(found):,} | {len(found) / len(every):.1%} | {', '.join(found[:2])} |"


def table(data: Path) -> Iterator[str]:
    """The lines of the table of names, then of what is made up."""
    yield "| names | n | taken for unreadable | share | such as |"
    yield "|---|---:|---:|---:|---|"
    shipped = [name for group in class_list_names() for name in class_list(group).names]
    yield row("of the class lists that ship", shipped)
    known, nonsense._known_words = nonsense._known_words, frozenset  # type: ignore[assignment]
    yield row("the same, were their words not known", shipped)
    nonsense._known_words = known
    yield from (row(name, labels) for name, labels in (*other_names(data), *made_up(random.Random(0))))


def main() -> None:
    parser = arguments(__doc__)
    add_write(parser)
    args = parser.parse_args()
    section("training.votes.nonsense", write=args.write).show(table(args.data))


if __name__ == "__main__":
    main()
