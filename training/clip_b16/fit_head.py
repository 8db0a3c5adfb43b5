"""Step 2: fit the text head in closed form, from sentence vectors to directions in CLIP's image space.

The image tower stays as it is (LiT). Photographs tell which direction of its space means what, in two ways. A ridge
regression takes CLIP ViT-B/16 image features to the CLIP ViT-B/32 text vector of what is on the photograph; read
backwards it places every name that has such a vector. Another takes them to the logits of a supervised classifier, so
that each ImageNet class has a direction of its own; names between the classes follow by their text vectors. Texts in
general follow by kernel ridge regression on sentence vectors, as in the pocket model.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from pathlib import Path

import common  # noqa: F401 - finds the modules of the folder above
import numpy as np
from fit_joint import GAMMA, first_sentences, fit_scale, fit_text, kernel
from lite import load_lite
from numpy.typing import NDArray
from photos import Array, list_photos
from sources import lite_checkpoint
from targets import gloss_targets, unit

LABEL = 0.5  # share of a photograph's label in what is said to be on it; the rest is the pocket tower's opinion
RIDGE = 0.3
NAME_NOISE = 0.5  # how far a class's own direction may lie from where its neighbours in CLIP's text space suggest
CAPTION_RIDGE, CAPTION_SHARE = 1.0, 0.2  # the linear part learned from captions, and its length beside the kernel part
SCALE = 100.0  # CLIP's own


def ridge(x: Array, y: Array, weight: float) -> Array:
    """The matrix (x dim, y dim) of least squares with a penalty."""
    return np.linalg.solve(x.T @ x + weight * np.eye(x.shape[1], dtype=np.float32), x.T @ y)


def clip_vectors(data: Path) -> tuple[Array, Array]:
    """Unit CLIP ViT-B/32 text vectors of the 1000 classes and of the 1568 other names.

    Each file is centred on its own, for their prompts differ.
    """
    folder = data / "metadata/clip_b32_text"
    files = [np.load(folder / f"{name}.npy").astype(np.float32) for name in ("imagenet1k", "lvis1203", "objects365")]
    classes, *others = (unit(v) for v in (files[0].T, *files[1:]))
    return unit(classes - classes.mean(0)), np.concatenate([unit(v - v.mean(0)) for v in others])


def opinions(pooled: Array) -> Array:
    """The supervised classifier's logits (photos, 1000) of the pocket tower's pooled features."""
    head = load_lite(lite_checkpoint("lite1"), "lite1").classifier
    return pooled @ head.weight.detach().numpy().T + head.bias.detach().numpy()


def soft_labels(logits: Array, labels: NDArray[np.int64]) -> Array:
    """What is on each photograph (photos, 1000): the classifier's probabilities, and the label if known."""
    share = np.exp(logits - logits.max(1, keepdims=True))
    share /= share.sum(1, keepdims=True)
    known = np.flatnonzero(labels >= 0)
    share[known] *= 1 - LABEL
    share[known, labels[known]] += LABEL
    return share


@dataclass(frozen=True)
class Head:
    """The fitted parts of the text side; at scale 100 the common part calibrates, and takes no part in a decision."""

    centres: Array  # (centres, sentence dim)
    mix: Array  # (centres, image dim)
    skip: Array  # (sentence dim, image dim)
    shift: Array  # (image dim,)
    axis: Array  # (image dim,) of the mean image

    def directions(self, sentences: Array) -> Array:
        """Unit directions (texts, image dim) orthogonal to the mean image."""
        near = unit(kernel(sentences, self.centres) @ self.mix)
        told = unit(sentences @ self.skip + self.shift)
        return without(near + CAPTION_SHARE * told, self.axis)


def without(vectors: Array, axis: Array) -> Array:
    """Unit rows without their part along `axis`, which would be a constant in every photograph's favour."""
    return unit(vectors - np.outer(vectors @ axis, axis))


@dataclass(frozen=True)
class Compass:
    """Where names with a CLIP text vector lie in the image space."""

    known: Array  # (1000, text dim) text vectors of the classes
    to_text: Array  # (image dim, text dim)
    mix: Array  # (1000, image dim) of the kernel ridge regression from text vectors to the classes' own directions
    axis: Array  # (image dim,) of the mean image

    @classmethod
    def fit(cls, known: Array, images: Array, shown: Array, logits: Array, axis: Array) -> Compass:
        """From centred image features, soft labels and logits of the same photographs."""
        texts = shown @ known
        own = logits - logits.mean(1, keepdims=True)
        rows = without(ridge(images, own - own.mean(0), RIDGE).T, axis)
        gram = np.exp(known @ known.T - 1) + NAME_NOISE * np.eye(len(known), dtype=np.float32)
        return cls(known, ridge(images, texts - texts.mean(0), RIDGE), np.linalg.solve(gram, rows), axis)

    def __call__(self, vectors: Array) -> Array:
        """Unit directions (names, image dim) of text vectors."""
        mapped = without(vectors @ self.to_text.T, self.axis)
        return without(mapped + unit(np.exp(vectors @ self.known.T - 1) @ self.mix), self.axis)


def place_concepts(cache: Path, classes: Array, names: Array, axis: Array) -> Array:
    """Unit places of all concepts: a class or name lies at its direction, others by their classes."""
    concepts = json.loads((cache / "texts.json").read_text())["concepts"]
    placed = [
        names[c["clip_row"]] if c["kind"] == "clip" else unit(classes[list(c["leaves"])].mean(0)) for c in concepts
    ]
    return without(gloss_targets(cache, np.stack(placed), concepts), axis)


def caption_sentences(cache: Path, labels: NDArray[np.int64]) -> Array:
    """One unit sentence vector per photograph: of its captions, or of its label."""
    record = json.loads((cache / "texts.json").read_text())
    sentences, n_texts = np.load(cache / "sentences.npy", mmap_mode="r"), len(record["texts"])
    owners = [photo for _, photo in record["captions"]]
    total = np.zeros((len(labels), sentences.shape[1]), np.float32)
    np.add.at(total, owners, np.array(sentences[n_texts : n_texts + len(owners)]))
    total[labels >= 0] = first_sentences(cache, labels[labels >= 0].tolist())
    return unit(total)


def fit(data: Path, cache: Path, features: Array, labels: NDArray[np.int64], use: NDArray[np.bool_]) -> Head:
    """The head fitted to the photographs in `use`, not yet calibrated."""
    mean = features[use].mean(0)
    axis = mean / np.linalg.norm(mean)
    images = features[use] - mean
    logits = opinions(np.load(cache / "pooled_0.npy")[use].astype(np.float32))
    classes, names = clip_vectors(data)
    compass = Compass.fit(classes, images, soft_labels(logits, labels[use]), logits, axis)
    centres, mix = fit_text(cache, place_concepts(cache, compass(classes), compass(names), axis))
    told = caption_sentences(cache, labels)[use]
    skip = ridge(images, told - told.mean(0), CAPTION_RIDGE).T  # (sentence dim, image dim)
    return Head(centres, mix, skip, -told.mean(0) @ skip, axis)


def main() -> None:
    """Write `head.npz`; the temperature is fitted on photographs that the map it is fitted with has not seen."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--cache", type=Path, default=Path("cache"), help="holds the caches of the pocket model too")
    args = parser.parse_args()
    photos = list_photos(args.data)
    labels = np.array([photo.label for photo in photos])
    features = np.load(args.cache / "clip_0.npy")
    seen = features.any(1)
    held_out = seen & np.array(["_val_" in p.path.name for p in photos]) & (np.arange(len(photos)) % 2 == 1)
    names = first_sentences(args.cache, list(range(1000)))
    rehearsal = fit(args.data, args.cache, features, labels, seen & ~held_out)
    directions = rehearsal.directions(names)
    sharpness = fit_scale(features[held_out], directions, labels[held_out])
    hits = (features[held_out] @ directions.T).argmax(1) == labels[held_out]
    print(f"scale {sharpness}, {100 * hits.mean():.1f}% of {len(hits)} unseen training photographs")
    head = fit(args.data, args.cache, features, labels, seen)
    pull = float(np.sqrt((SCALE / sharpness) ** 2 - 1))
    np.savez(args.cache / "head.npz", **vars(head), gamma=GAMMA, share=CAPTION_SHARE, pull=pull, scale=SCALE)
    print(f"{seen.sum()} photographs, {len(head.centres)} centres, pull {pull:.2f}")


if __name__ == "__main__":
    main()
