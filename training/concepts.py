"""What the text side learns: ImageNet's classes, their ancestors and kin in WordNet, lookalikes, CLIP's names."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from pathlib import Path

from training.wordnet import PHYSICAL, Synset, leaves_below, nearest_kin, read_first_senses, read_nouns


@dataclass(frozen=True)
class Concept:
    """A thing with names: the ImageNet classes it contains or is near to, or a row of CLIP text vectors."""

    kind: str  # leaf, ancestor, kin, lookalike, clip
    names: tuple[str, ...]
    leaves: tuple[int, ...] = ()
    clip_row: int = -1
    gloss: str = ""


def clean(name: str) -> str:
    """A readable name: no underscores, no bracketed remark."""
    return name.replace("_", " ").split("(")[0].strip()


def list_concepts(data: Path, wordnet: Path) -> list[Concept]:
    """The classes first (concept i is class i), then ancestors, kin, lookalikes, and names with CLIP text vectors."""
    classes = json.loads((data / "metadata/imagenet_classes.json").read_text())
    nouns = read_nouns(wordnet)
    offsets = [int(entry["wnid"][1:]) for entry in classes]
    leaves = []
    for i, entry in enumerate(classes):
        synset = nouns[offsets[i]]
        names = dict.fromkeys([entry["clip_name"], clean(entry["keras_name"]), *synset.lemmas])
        leaves.append(Concept("leaf", tuple(names), (i,), gloss=synset.gloss))
    below = leaves_below(nouns, offsets)
    ancestors = [
        Concept("ancestor", nouns[node].lemmas[:3], tuple(sorted(found)))
        for node, found in sorted(below.items())
        if node not in offsets and len(found) <= 450
    ]
    first = read_first_senses(wordnet)
    kin = list_kin(nouns, first, below)
    lookalikes = list_lookalikes([entry["clip_name"] for entry in classes])
    return leaves + ancestors + kin + lookalikes + list_clip_names(data)


def list_kin(nouns: dict[int, Synset], first: dict[str, int], below: dict[int, frozenset[int]]) -> list[Concept]:
    """Physical nouns outside ImageNet, in their commonest sense, with the leaves of the nearest hypernym."""
    found = []
    for offset, synset in sorted(nouns.items()):
        word = synset.lemmas[0].lower()
        if offset in below or synset.file not in PHYSICAL or first.get(word) != offset:
            continue
        near = nearest_kin(nouns, below, offset, steps=3)
        if 0 < len(near) <= 60 and len(word.split()) <= 2 and not word.startswith("genus"):
            found.append(Concept("kin", synset.lemmas[:1], tuple(sorted(near)), gloss=synset.gloss))
    return found


def list_lookalikes(classes: list[str]) -> list[Concept]:
    """Things outside ImageNet and the classes they look like; a class named twice weighs twice."""
    lines = Path(__file__).with_name("lookalikes.txt").read_text().splitlines()
    pairs = [line.split(": ") for line in lines if line and not line.startswith("#")]
    return [Concept("lookalike", (name,), tuple(classes.index(c) for c in like.split(", "))) for name, like in pairs]


def list_clip_names(data: Path) -> list[Concept]:
    """LVIS and Objects365 names; `clip_row` counts through the two vector files in that order."""
    folder = data / "metadata/clip_b32_text"
    lvis = json.loads((folder / "lvis1203_names.json").read_text())
    found = [
        Concept("clip", tuple(clean(s) for s in entry["synonyms"][:2]), clip_row=i, gloss=entry["def"])
        for i, entry in enumerate(lvis)
    ]
    with (folder / "objects365_names.csv").open(newline="", encoding="utf-8") as file:
        names = [clean(row[1]).lower() for row in csv.reader(file)]
    return found + [Concept("clip", (name,), clip_row=len(lvis) + i) for i, name in enumerate(names)]
