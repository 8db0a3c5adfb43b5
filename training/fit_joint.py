"""Step 3: fit both sides of the joint space in closed form, then the temperature."""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from training.lite import load_lite
from training.onnx_graph import quantise
from training.photos import Array, list_photos
from training.sentence import load_tokenizer
from training.sources import lite_checkpoint
from training.styles import draw_style
from training.targets import Concept, concept_targets, row_space, unit

GAMMA = 4.0  # width of the text kernel exp(gamma (cos - 1))
NOISE = {"leaf": 0.02, "ancestor": 0.3, "lookalike": 0.3, "clip": 0.3, "kin": 1.0}  # how far a text may miss its place
MOST_KIN = 3200  # keeps the pack below 40 MB
DRAWN, ANCHOR, LABEL = (
    1.0,
    3000.0,
    0.5,
)  # weight of drawn views, pull towards the untrained map, share of the label's row
CAPTION_DIM, CAPTION_SHARE = 128, 0.35  # the second part of the joint space, and its length relative to the first


def kernel(sentences: Array, centres: Array) -> Array:
    """Similarities in (0, 1], (texts, centres)."""
    return np.exp(GAMMA * (sentences @ centres.T - 1))


def pick_centres(concepts: list[Concept]) -> list[int]:
    """Every concept but the kin; of those the commonest words (fewest word pieces), the best placed first."""
    tokenizer = load_tokenizer()
    pieces = {i: len(tokenizer.encode(c["names"][0]).ids) for i, c in enumerate(concepts) if c["kind"] == "kin"}
    common = sorted(pieces, key=lambda i: (pieces[i], len(concepts[i]["leaves"])))[:MOST_KIN]
    return sorted(common + [i for i, c in enumerate(concepts) if c["kind"] != "kin"])


@dataclass(frozen=True)
class TextSystem:
    """The kernel ridge regression from sentence vectors to places, before the places are known."""

    picked: list[int]  # the concepts that are centres
    centres: Array  # (centres, sentence dim)
    factor: tuple[Array, bool]  # of the kernel matrix with its noise

    @classmethod
    def of(cls, cache: Path) -> TextSystem:
        """The one of the cached texts."""
        concepts = json.loads((cache / "texts.json").read_text())["concepts"]
        picked = pick_centres(concepts)
        codes, steps = quantise(first_sentences(cache, picked), axis=0)
        centres = codes * steps  # what the pack will store
        noise = np.array([NOISE[concepts[i]["kind"]] for i in picked], np.float32)
        factor = cho_factor(kernel(centres, centres) + np.diag(noise), lower=True, overwrite_a=True)
        return cls(picked, centres, factor)

    def mix(self, places: Array) -> Array:
        """The mixing weights (centres, dim) that take the centres to their places."""
        return cho_solve(self.factor, places).astype(np.float32)

    def smoother(self, sentences: Array) -> Array:
        """The matrix (texts, centres) that takes the places of the centres to those of the texts."""
        found = np.empty((len(sentences), len(self.centres)), np.float32)
        for some in np.array_split(np.arange(len(sentences)), 1 + len(sentences) // 4096):  # bounds the working memory
            found[some] = cho_solve(self.factor, kernel(sentences[some], self.centres).T).T
        return found


def ridge(views: list[tuple[float, Array]], goal: Array, start: Array, use: NDArray[np.bool_]) -> Array:
    """The affine map (features + 1, dim) from weighted views to their goals, pulled towards `start`."""
    gram, cross = ANCHOR * np.eye(len(start), dtype=np.float32), ANCHOR * start
    for weight, features in views:
        some = use & features.any(1)
        wide = np.concatenate([features[some], np.ones((some.sum(), 1), np.float32)], 1)
        gram, cross = gram + weight * wide.T @ wide, cross + weight * wide.T @ goal[some]
    return np.linalg.solve(gram, cross)


def affine(features: Array, matrix: Array) -> Array:
    """Features through a map with a constant row."""
    return features @ matrix[:-1] + matrix[-1]


def fit_image(
    cache: Path, labels: Array, basis: Array, rows: Array, captions: Array, use: NDArray[np.bool_]
) -> tuple[Array, Array, Array]:
    """Maps to the row part and to the caption part, and the projection that removes what whole styles share."""
    plain, drawn = (np.load(cache / f"pooled_{variant}.npy").astype(np.float32) for variant in ("0", "0d"))
    views = [(1.0, plain), (DRAWN, drawn)]
    mean = plain.mean(0)
    place = (plain - mean) @ basis  # (photos, dim)
    start = np.concatenate([basis, -(mean @ basis)[None]]) / np.linalg.norm(place, axis=1).mean()
    goal, known = unit(place), labels >= 0
    goal[known] = unit((1 - LABEL) * goal[known] + LABEL * rows[labels[known]])
    row_map = ridge(views, goal, start, use)
    caption_map = ridge(views, captions, np.zeros((len(start), captions.shape[1]), np.float32), use)
    style = np.array([draw_style(i) for i in range(len(labels))])
    shared = [unit(affine(drawn[use & (style == s)], row_map)).mean(0) for s in range(style.max() + 1)]
    shared += [unit(affine(plain[use & some], row_map)).mean(0) for some in (known, ~known)]
    axes = np.linalg.svd(np.stack(shared).T, full_matrices=False)[0]  # (dim, means)
    return row_map, caption_map, np.eye(len(axes), dtype=np.float32) - axes @ axes.T


def caption_space(cache: Path, labels: Array) -> tuple[Array, Array, Array]:
    """Where captions lie: photo targets, and the affine map (directions, shift) that takes a sentence vector there."""
    record = json.loads((cache / "texts.json").read_text())
    sentences, n_texts = np.load(cache / "sentences.npy", mmap_mode="r"), len(record["texts"])
    total = np.zeros((len(labels), sentences.shape[1]), np.float32)
    owners = [photo for _, photo in record["captions"]]
    np.add.at(total, owners, np.array(sentences[n_texts : n_texts + len(owners)]))
    total[labels >= 0] = first_sentences(cache, labels[labels >= 0].tolist())
    centre = np.array(sentences[:n_texts:7]).mean(0)
    centred = unit(total) - centre
    directions = np.linalg.svd(centred, full_matrices=False)[2][:CAPTION_DIM].T  # (384, caption dim)
    return centred @ directions, directions, -centre @ directions


def fit_scale(images: Array, texts: Array, labels: Array) -> float:
    """The logit scale of least negative log-likelihood."""
    cosine = images @ texts.T
    best = min(np.arange(5, 100, 0.5), key=lambda scale: nll(scale * cosine, labels))
    return float(best)


def nll(logits: Array, labels: Array) -> float:
    """Mean negative log-likelihood of the labels."""
    top = logits.max(1, keepdims=True)
    return float((np.log(np.exp(logits - top).sum(1)) + top[:, 0] - logits[np.arange(len(labels)), labels]).mean())


def join(first: Array, second: Array) -> Array:
    """Unit vectors of the two parts side by side."""
    return unit(np.concatenate([unit(first), CAPTION_SHARE * unit(second)], 1))


def main() -> None:
    """Write `joint.npz`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--cache", type=Path, default=Path("cache"))
    parser.add_argument("--tower", default="lite1")
    args = parser.parse_args()
    net = load_lite(lite_checkpoint(args.tower), args.tower)
    photos = list_photos(args.data)
    labels = np.array([photo.label for photo in photos])
    basis, rows = row_space(net.classifier.weight.detach().numpy())
    plain = np.load(args.cache / "pooled_0.npy").astype(np.float32)
    system = TextSystem.of(args.cache)
    centres, mix = system.centres, system.mix(concept_targets(args.data, args.cache, rows)[system.picked])
    captions, directions, shift = caption_space(args.cache, labels)
    everything = np.ones(len(labels), bool)
    row_map, caption_map, clear = fit_image(args.cache, labels, basis, rows, captions, everything)
    # the scale is fitted on photographs that neither the tower (ImageNet's training set) nor this map has seen
    fresh = np.array(["_val_" in photo.path.name for photo in photos])
    half = everything & (np.arange(len(labels)) % 2 == 0)
    half_rows, half_captions, half_clear = fit_image(args.cache, labels, basis, rows, captions, half)
    other = np.flatnonzero(~half & fresh)
    names = first_sentences(args.cache, list(range(1000)))
    texts = join(kernel(names, centres) @ mix @ half_clear, names @ directions + shift)
    images = join(affine(plain[other], half_rows) @ half_clear, affine(plain[other], half_captions))
    scale = fit_scale(images, texts, labels[other])
    hits = (images @ texts.T).argmax(1) == labels[other]
    print(f"{len(centres)} centres, scale {scale}, {100 * hits.mean():.1f}% of {len(hits)} unseen training photographs")
    image_map = np.concatenate([row_map @ clear, caption_map], 1)
    np.savez(
        args.cache / "joint.npz",
        weight=image_map[:-1],
        bias=image_map[-1],
        centres=centres,
        mix=mix @ clear,
        gamma=GAMMA,
        skip=directions,
        shift=shift,
        share=CAPTION_SHARE,
        scale=scale,
    )


def first_sentences(cache: Path, concepts: list[int]) -> Array:
    """Sentence vectors of 'a photo of a {first name}.' of the concepts; the first thousand concepts are the classes."""
    texts = json.loads((cache / "texts.json").read_text())["texts"]
    first: dict[int, int] = {}
    for i, (_, concept) in enumerate(texts):
        first.setdefault(concept, i)
    return np.array(np.load(cache / "sentences.npy", mmap_mode="r")[[first[c] for c in concepts]])


if __name__ == "__main__":
    main()
