"""Step 2: fit the text head in closed form, from sentence vectors to directions in CLIP's image space.

The image tower stays as it is (LiT). Photographs tell which direction of its space means what, in two ways. A ridge
regression takes CLIP ViT-B/16 image features to the CLIP ViT-B/32 text vectors of what is on the photograph (by its
label or captions, and by the pocket tower); read backwards it places every name that has such a vector. Another takes
them to the logits of a supervised classifier, so that each ImageNet class has a direction of its own; names between the
classes follow by their text vectors. Texts in general follow by kernel ridge regression on sentence vectors, as in the
pocket model.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from training.clip_b16.common import CAPTIONS, need
from training.clip_b16.mentions import WORDNET, shares_of, true_words
from training.fit_joint import TextSystem, first_sentences, kernel
from training.lite import load_lite
from training.photos import Array, Photo, list_photos
from training.sources import lite_checkpoint
from training.targets import gloss_targets, unit

LABEL = 0.5  # share of the label, or of what captions mention, in what is on a view; the rest is the pocket's opinion
RIDGE = 0.3
NAME_NOISE = 0.5  # how far a class's own direction may lie from where its neighbours in CLIP's text space suggest
CAPTION_RIDGE, CAPTION_SHARE = 1.0, 0.2  # the linear part learned from captions, and its length beside the kernel part


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
    """The supervised classifier's logits (views, 1000) of the pocket tower's pooled features."""
    head = load_lite(lite_checkpoint("lite1"), "lite1").classifier
    return pooled @ head.weight.detach().numpy().T + head.bias.detach().numpy()


@dataclass(frozen=True)
class Views:
    """Views of the training photographs: CLIP's features, and what is known of what they show."""

    photo: NDArray[np.int64]  # (views,)
    labels: NDArray[np.int64]  # (views,) class or -1
    features: Array  # (views, image dim)
    logits: Array  # (views, 1000) of the supervised classifier

    @classmethod
    def load(cls, cache: Path, labels: NDArray[np.int64], views: Sequence[int]) -> Views:
        """Those that both towers have seen."""
        found = []
        for view in views:
            features, pooled = np.load(cache / f"clip_{view}.npy"), np.load(cache / f"pooled_{view}.npy")
            seen = np.flatnonzero(features.any(1) & pooled.any(1))
            found.append((seen, features[seen], pooled[seen].astype(np.float32)))
        photo, features, pooled = (np.concatenate(column) for column in zip(*found, strict=True))
        return cls(photo, labels[photo], features, opinions(pooled))

    def of(self, photos: NDArray[np.bool_]) -> Views:
        """The views of some of the photographs."""
        return self.where(photos[self.photo])

    def where(self, use: NDArray[np.bool_]) -> Views:
        """Some of the views."""
        return Views(self.photo[use], self.labels[use], self.features[use], self.logits[use])

    def shares(self) -> Array:
        """What is on each view (views, 1000): the classifier's probabilities, and the label if known."""
        share = np.exp(self.logits - self.logits.max(1, keepdims=True))
        share /= share.sum(1, keepdims=True)
        known = np.flatnonzero(self.labels >= 0)
        share[known] *= 1 - LABEL
        share[known, self.labels[known]] += LABEL
        return share


@dataclass(frozen=True)
class Head:
    """The fitted parts of the text side; `common_axes` says what they keep off."""

    centres: Array  # (centres, sentence dim)
    mix: Array  # (centres, image dim)
    skip: Array  # (sentence dim, image dim)
    shift: Array  # (image dim,)
    axes: Array  # (2, image dim) of the mean image, and the one along which images are emptiest

    def directions(self, sentences: Array) -> Array:
        """Unit directions (texts, image dim) orthogonal to the axes."""
        near = unit(kernel(sentences, self.centres) @ self.mix)
        told = unit(sentences @ self.skip + self.shift)
        return without(near + CAPTION_SHARE * told, self.axes)


def without(vectors: Array, axes: Array) -> Array:
    """Unit rows without their parts along orthonormal axes."""
    return unit(vectors - vectors @ axes.T @ axes)


def common_axes(features: Array) -> Array:
    """Two axes that texts keep off: of the mean image, and the one along which images are emptiest.

    A part along the first would be a constant in every photograph's favour. The second holds what all texts have in
    common, so that softmax at scale 100 is calibrated: along it images are next to nothing, and texts may have more or
    less of it, as averages over templates do, without being favoured.
    """
    mean = features.mean(0)
    axis = mean / np.linalg.norm(mean)
    moments = features.T @ features / len(features) + np.outer(axis, axis)  # which keeps the mean out of the last
    return np.stack([axis, np.linalg.eigh(moments)[1][:, 0]])


@dataclass(frozen=True)
class Compass:
    """Where names with a CLIP text vector lie in the image space."""

    known: Array  # (1000, text dim) text vectors of the classes
    to_text: Array  # (image dim, text dim)
    mix: Array  # (1000, image dim) of the kernel ridge regression from text vectors to the classes' own directions
    axes: Array  # as in `Head`

    @classmethod
    def fit(cls, known: Array, images: Array, texts: Array, logits: Array, axes: Array) -> Compass:
        """From centred image features, text vectors of what is on them, and the classifier's logits."""
        own = logits - logits.mean(1, keepdims=True)
        rows = without(ridge(images, own - own.mean(0), RIDGE).T, axes)
        gram = np.exp(known @ known.T - 1) + NAME_NOISE * np.eye(len(known), dtype=np.float32)
        return cls(known, ridge(images, texts - texts.mean(0), RIDGE), np.linalg.solve(gram, rows), axes)

    def __call__(self, vectors: Array) -> Array:
        """Unit directions (names, image dim) of text vectors."""
        mapped = without(vectors @ self.to_text.T, self.axes)
        return without(mapped + unit(np.exp(vectors @ self.known.T - 1) @ self.mix), self.axes)


def place_concepts(cache: Path, classes: Array, names: Array, axes: Array) -> Array:
    """Unit places of all concepts: a class or name lies at its direction, others by their classes."""
    concepts = json.loads((cache / "texts.json").read_text())["concepts"]
    placed = [
        names[c["clip_row"]] if c["kind"] == "clip" else unit(classes[list(c["leaves"])].mean(0)) for c in concepts
    ]
    return without(gloss_targets(cache, np.stack(placed), concepts), axes)


def mentions(cache: Path, photos: Sequence[Photo], wordnet: Path) -> Array:
    """What captions mention (photos, 2568): the names with a CLIP text vector, classes first, in shares."""
    concepts = json.loads((cache / "texts.json").read_text())["concepts"]
    named = [c["names"] for kind in ("leaf", "clip") for c in concepts if c["kind"] == kind]
    return shares_of(true_words([photo.captions for photo in photos], wordnet), named)


def caption_sentences(cache: Path, labels: NDArray[np.int64]) -> Array:
    """One unit sentence vector per photograph: of its captions, or of its label."""
    record = json.loads((cache / "texts.json").read_text())
    sentences, n_texts = np.load(cache / "sentences.npy", mmap_mode="r"), len(record["texts"])
    owners = [photo for _, photo in record["captions"]]
    total = np.zeros((len(labels), sentences.shape[1]), np.float32)
    np.add.at(total, owners, np.array(sentences[n_texts : n_texts + len(owners)]))
    total[labels >= 0] = first_sentences(cache, labels[labels >= 0].tolist())
    return unit(total)


def fit(data: Path, cache: Path, views: Views, told: Array, mentioned: Array) -> tuple[Head, Array]:
    """The head fitted to these views, not yet calibrated, and the places of its centres."""
    axes, images = common_axes(views.features), views.features - views.features.mean(0)
    classes, names = clip_vectors(data)
    texts, named = views.shares() @ classes, mentioned[views.photo]
    share = LABEL * named.any(1, keepdims=True)
    texts = (1 - share) * texts + share * (named @ np.concatenate([classes, names]))
    compass = Compass.fit(classes, images, texts, views.logits, axes)
    system = TextSystem.of(cache)
    places = place_concepts(cache, compass(classes), compass(names), axes)[system.picked]
    said = told[views.photo]
    skip = ridge(images, said - said.mean(0), CAPTION_RIDGE).T  # (sentence dim, image dim)
    return Head(system.centres, system.mix(places), skip, -said.mean(0) @ skip, axes), places


@dataclass(frozen=True)
class Split:
    """The photographs that a rehearsal holds out, and why."""

    unseen: NDArray[np.bool_]  # one of each class shown, and one in ten of those with captions
    novel: NDArray[np.bool_]  # all of every tenth class, of which only texts and the classifier's opinions then know

    @classmethod
    def of(cls, labels: NDArray[np.int64]) -> Split:
        """Labelled photographs come four to a class, the second of them from the validation set."""
        place, novel = np.arange(len(labels)), labels % 10 == 3
        return cls(np.where(labels >= 0, (place % 4 == 1) & ~novel, place % 10 == 0), novel & (labels >= 0))

    @property
    def rest(self) -> NDArray[np.bool_]:
        """What the rehearsal is fitted to."""
        return ~self.unseen & ~self.novel


def arguments(description: str | None) -> argparse.ArgumentParser:
    """What steps 2 and 3 are told alike."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--cache", type=Path, default=Path("cache"), help="holds the caches of the pocket model too")
    parser.add_argument("--views", type=int, nargs="+", default=[0, 1, 2, 3], help="0: the source view; others: crops")
    parser.add_argument("--wordnet", type=Path, default=WORDNET)
    return parser


def parsed(parser: argparse.ArgumentParser, *earlier: str) -> argparse.Namespace:
    """The arguments, once everything that is read is known to be there."""
    args = parser.parse_args()
    need(parser, args.data, CAPTIONS)
    need(parser, args.wordnet, "data.noun", "index.noun", "index.adj", "noun.exc")
    views = [f"{tower}_{view}.npy" for view in args.views for tower in ("clip", "pooled")]
    need(parser, args.cache, "texts.json", "sentences.npy", *views, *earlier)
    return args


def main() -> None:
    """Write `rehearsal.npz`, fitted without what is held out, and `closed.npz`, fitted to all."""
    args = parsed(arguments(__doc__))
    photos = list_photos(args.data)
    labels = np.array([photo.label for photo in photos])
    views, told = Views.load(args.cache, labels, args.views), caption_sentences(args.cache, labels)
    mentioned = mentions(args.cache, photos, args.wordnet)
    for name, use in (("rehearsal", Split.of(labels).rest), ("closed", np.ones(len(labels), bool))):
        some = views.of(use)
        head, places = fit(args.data, args.cache, some, told, mentioned)
        np.savez(args.cache / f"{name}.npz", **vars(head), places=places)
        print(f"{name}: {len(np.unique(some.photo))} photographs, {len(some.photo)} views, {len(places)} centres")


if __name__ == "__main__":
    main()
