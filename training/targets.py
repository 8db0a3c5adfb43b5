"""Where every concept should lie in the joint space: the space of the supervised classifier's rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from training.photos import Array

Concept = dict[str, Any]
DIM, GLOSS_GAMMA = 512, 4.0
CLIP_GAMMA, CLIP_NOISE = 1.0, 0.2  # chosen on 150 held-out ImageNet classes (train images): 70.3% against 68.0% linear


def unit(x: Array) -> Array:
    """Rows of unit length."""
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def row_space(classifier: Array) -> tuple[Array, Array]:
    """The 512 principal directions of the centred classifier rows (features, dim), and the unit rows in them."""
    centred = classifier - classifier.mean(0)
    basis = np.linalg.svd(centred, full_matrices=False)[2][:DIM].T
    return np.ascontiguousarray(basis), unit(centred @ basis)


def clip_targets(data: Path, rows: Array) -> Array:
    """CLIP's text vectors of LVIS and Objects365 names carried over to the row space.

    Kernel ridge regression on the thousand classes that both spaces know.
    """
    folder = data / "metadata/clip_b32_text"
    known = unit(np.load(folder / "imagenet1k.npy").astype(np.float32).T)
    other = unit(
        np.concatenate([np.load(folder / f"{name}.npy") for name in ("lvis1203", "objects365")]).astype(np.float32)
    )
    known, other = unit(known - known.mean(0)), unit(other - other.mean(0))  # the two sets use different prompts
    gram = np.exp(CLIP_GAMMA * (known @ known.T - 1)) + CLIP_NOISE * np.eye(len(known), dtype=np.float32)
    return unit(np.exp(CLIP_GAMMA * (other @ known.T - 1)) @ np.linalg.solve(gram, rows))


def gloss_targets(cache: Path, targets: Array, concepts: list[Concept]) -> Array:
    """Places of the kin: half the mean of the leaves of their hypernym, half what their WordNet gloss suggests.

    The suggestion is a kernel ridge regression from the sentence vectors of the glosses of classes and LVIS names.
    """
    record = json.loads((cache / "texts.json").read_text())
    start = len(record["texts"]) + len(record["captions"])
    glosses = np.load(cache / "sentences.npy", mmap_mode="r")[start:]
    owner = np.array([concept for _, concept in record["glosses"]])
    kind = np.array([concepts[c]["kind"] for c in owner])
    known, kin = np.isin(kind, ("leaf", "clip")), kind == "kin"
    noise = np.where(kind[known] == "leaf", 0.1, 1.0).astype(np.float32)
    gram = np.exp(GLOSS_GAMMA * (glosses[known] @ glosses[known].T - 1)) + np.diag(noise)
    mix = np.linalg.solve(gram, targets[owner[known]])
    suggested = unit(np.exp(GLOSS_GAMMA * (glosses[kin] @ glosses[known].T - 1)) @ mix)
    placed = targets.copy()
    placed[owner[kin]] = unit(targets[owner[kin]] + suggested)
    return placed


def concept_targets(data: Path, cache: Path, rows: Array) -> Array:
    """Unit targets of all concepts.

    A class lies on its row, ancestors and lookalikes on the mean of theirs, a CLIP name where CLIP puts it.
    """
    concepts = json.loads((cache / "texts.json").read_text())["concepts"]
    named = clip_targets(data, rows)

    def place(concept: Concept) -> Array:
        if concept["kind"] == "clip":
            return named[concept["clip_row"]]
        return unit(rows[list(concept["leaves"])].mean(0))

    return gloss_targets(cache, np.stack([place(c) for c in concepts]), concepts)
