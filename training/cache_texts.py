"""Step 2: list the training texts and cache their sentence vectors (resumable)."""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np
import onnxruntime as ort

from training.concepts import Concept, list_concepts
from training.photos import list_photos
from training.sentence import load_tokenizer, save_sentence_encoder

MAIN = "a photo of a {}."
SHORT = (
    "{}",
    "a {}",
    "a picture of a {}.",
    "a drawing of a {}.",
    "a sketch of a {}.",
    "a cartoon of a {}.",
    "a painting of a {}.",
)
MORE = (
    "a close-up photo of a {}.",
    "a photo of the {}.",
    "art of the {}.",
    "there is a {} in the scene",
    "a photo of one {}.",
)
BATCH = 64


def list_texts(concepts: list[Concept], rng: np.random.Generator) -> list[tuple[str, int]]:
    """(text, concept) pairs: many templates for a class's first name, fewer for the rest."""
    pairs = []
    for index, concept in enumerate(concepts):
        for rank, name in enumerate(concept.names):
            templates: list[str] = [MAIN]
            if concept.kind == "leaf" and rank == 0:
                templates += [*SHORT, *MORE]
            elif concept.kind in ("leaf", "ancestor", "clip"):
                templates += [SHORT[rng.integers(2)], SHORT[rng.integers(2, len(SHORT))]]
            pairs += [(template.format(name), index) for template in templates]
    return pairs


def encode(texts: list[str], cache: Path, threads: int) -> np.ndarray:
    """Sentence vectors of the texts; texts of like length run together; kept in `sentences.npy` as they come."""
    path = cache / "sentences.npy"
    if not path.exists() or np.load(path, mmap_mode="r").shape[0] != len(texts):
        np.save(path, np.zeros((len(texts), 384), np.float32))
    vectors = np.load(path, mmap_mode="r+")
    graph = cache / "sentence.onnx"
    if not graph.exists():
        save_sentence_encoder(graph)
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    session = ort.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
    tokens = [encoding.ids for encoding in load_tokenizer().encode_batch(texts)]
    todo = sorted((i for i in range(len(texts)) if not vectors[i].any()), key=lambda i: len(tokens[i]))
    start = time.time()
    for first in range(0, len(todo), BATCH):
        rows = todo[first : first + BATCH]
        length = max(len(tokens[i]) for i in rows)
        ids = np.array([tokens[i] + [0] * (length - len(tokens[i])) for i in rows], np.int64)
        mask = np.array([[1] * len(tokens[i]) + [0] * (length - len(tokens[i])) for i in rows], np.int64)
        vectors[rows] = session.run(None, {"input_ids": ids, "attention_mask": mask})[0]
        if first % (100 * BATCH) == 0:
            print(f"{first + len(rows)} of {len(todo)} texts, {time.time() - start:.0f} s", flush=True)
    return vectors


def main() -> None:
    """Write `texts.json` (concepts, texts, captions, glosses) and `sentences.npy`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--cache", type=Path, default=Path("cache"))
    parser.add_argument("--wordnet", type=Path, default=Path("/usr/share/wordnet"))
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    rng = np.random.default_rng(0)
    photos = list_photos(args.data)
    concepts = list_concepts(args.data, args.wordnet)
    pairs = list_texts(concepts, rng)
    captions = [(text, i) for i, photo in enumerate(photos) for text in photo.captions]
    glosses = [(f"{c.names[0]}: {c.gloss}"[:160], i) for i, c in enumerate(concepts) if c.gloss]
    record = {"concepts": [vars(c) for c in concepts], "texts": pairs, "captions": captions, "glosses": glosses}
    args.cache.mkdir(parents=True, exist_ok=True)
    (args.cache / "texts.json").write_text(json.dumps(record))
    print(f"{len(concepts)} concepts, {len(pairs)} texts, {len(captions)} captions, {len(glosses)} glosses", flush=True)
    encode([text for text, _ in pairs + captions + glosses], args.cache, args.threads)


if __name__ == "__main__":
    main()
