"""The texts that views are compared with while the text side is tuned: label texts and captions."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from training.fit_joint import TextSystem
from training.photos import Array

Rows = NDArray[np.int64]
CLASSES = 1000


@dataclass(frozen=True)
class Texts:
    """Sentence vectors, and what each text is true of; the lists hold rows of `sentences`."""

    sentences: Array  # (texts, sentence dim)
    smoother: Array  # (texts, centres): a text's place is this times the places of the centres
    captions: list[Rows]  # of each photograph
    names: list[Rows]  # of each class: its names, in several templates
    above: list[Rows]  # of each class: its ancestors in WordNet, likewise
    holds: NDArray[np.bool_]  # (texts, classes): the label text is true of photographs of the class
    known: Rows  # the names that CLIP ViT-B/32's vectors are of, classes first

    @classmethod
    def load(cls, cache: Path, system: TextSystem, n_photos: int) -> Texts:
        """Label texts of classes, ancestors and the other names with a vector, then the captions."""
        record = json.loads((cache / "texts.json").read_text())
        concepts, stored = record["concepts"], np.load(cache / "sentences.npy", mmap_mode="r")
        pairs = [
            (i, c) for i, (_, c) in enumerate(record["texts"]) if concepts[c]["kind"] in ("leaf", "ancestor", "clip")
        ]
        end = len(record["texts"])
        sentences = np.concatenate([stored[[i for i, _ in pairs]], stored[end : end + len(record["captions"])]])
        holds = np.zeros((len(sentences), CLASSES), bool)
        captions: list[list[int]] = [[] for _ in range(n_photos)]
        by_class: dict[str, list[list[int]]] = {kind: [[] for _ in range(CLASSES)] for kind in ("leaf", "ancestor")}
        known: dict[int, int] = {}
        for row, (_, owner) in enumerate(pairs):
            concept = concepts[owner]
            if concept["kind"] == "clip":
                known.setdefault(CLASSES + concept["clip_row"], row)
                continue
            if concept["kind"] == "leaf":
                known.setdefault(owner, row)
            holds[row, concept["leaves"]] = True
            for leaf in concept["leaves"]:
                by_class[concept["kind"]][leaf].append(row)
        for row, (_, photo) in enumerate(record["captions"], start=len(pairs)):
            captions[photo].append(row)
        lists = (captions, by_class["leaf"], by_class["ancestor"])
        return cls(
            sentences,
            system.smoother(sentences),
            *([np.array(rows, np.int64) for rows in some] for some in lists),
            holds,
            np.array([known[i] for i in range(len(known))]),
        )

    def of_view(self, photo: int, label: int, rng: np.random.Generator) -> int:
        """A text for a view: one of the captions, or a name of its class or, half of the time, of an ancestor."""
        if label < 0:
            return draw(self.captions[photo], rng)
        return draw(self.above[label] if rng.random() < 0.5 and len(self.above[label]) else self.names[label], rng)


def draw(choices: Rows, rng: np.random.Generator) -> int:
    """One of them."""
    return int(choices[rng.integers(len(choices))])
