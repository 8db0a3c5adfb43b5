"""Step 1: cache CLIP's features of the training views (resumable)."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from training.clip_b16.common import CAPTIONS, DIM, need, open_tower
from training.photos import Pixels, list_photos, training_view

SIZE, REPORT = 224, 100
Encode = Callable[[Pixels], np.ndarray]


def fill(path: Path, n: int, order: Sequence[int], pixels: Callable[[int], Pixels], encode: Encode) -> None:
    """Nothing; every row of `path` named in `order` holds the unit features of its view, written as they come."""
    if not path.exists():
        np.save(path, np.zeros((n, DIM), np.float32))
    stored = np.load(path, mmap_mode="r+")
    todo = [int(i) for i in order if not stored[i].any()]
    start = time.time()
    for done, i in enumerate(todo, start=1):
        stored[i] = encode(pixels(i)[None])[0]
        if done % REPORT == 0 or done == len(todo):
            print(f"{path.stem}: {done} of {len(todo)}, {time.time() - start:.0f} s", flush=True)


def cache_training(data: Path, cache: Path, view: int, part: str, encode: Encode) -> None:
    """View `view` of the labelled (imagenet) or captioned (flickr8k) photographs, in a shuffled order."""
    photos = list_photos(data)
    wanted = [(photo.label >= 0) == (part == "imagenet") for photo in photos]
    order = [i for i in np.random.default_rng(0).permutation(len(photos)) if wanted[i]]

    def pixels(i: int) -> Pixels:
        return np.asarray(training_view(photos[i], i, view, SIZE))

    fill(cache / f"clip_{view}.npy", len(photos), order, pixels, encode)


def main() -> None:
    """Run the parts named, on one thread."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--cache", type=Path, default=Path("cache"))
    parser.add_argument("--view", type=int, default=0, help="0: the source view; others are random crops")
    parser.add_argument("--parts", nargs="+", default=["imagenet", "flickr8k"])
    args = parser.parse_args()
    need(parser, args.data, CAPTIONS)
    args.cache.mkdir(parents=True, exist_ok=True)
    encode = open_tower()
    for part in args.parts:
        cache_training(args.data, args.cache, args.view, part, encode)


if __name__ == "__main__":
    main()
