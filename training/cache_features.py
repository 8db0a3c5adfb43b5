"""Step 1: cache what the frozen tower makes of the training views, plain and drawn (resumable)."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import onnxruntime as ort

from training.lite import MEAN, STD, load_lite
from training.photos import Array, list_photos, normalise, training_view
from training.sources import lite_checkpoint
from training.styles import draw
from training.vision_graph import save_features

TOWER, SIZE = "lite1", 224
BATCH = 16


def open_session(cache: Path, threads: int) -> ort.InferenceSession:
    """The frozen tower, with the pooled features as output."""
    graph = cache / f"{TOWER}_features.onnx"
    if not graph.exists():
        save_features(load_lite(lite_checkpoint(TOWER), TOWER), graph, SIZE)
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    return ort.InferenceSession(graph, options, providers=["CPUExecutionProvider"])


def main() -> None:
    """Fill `pooled_<variant>.npy`; variant '0' is plain view 0, '0d' the same view drawn."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--cache", type=Path, default=Path("cache"))
    parser.add_argument("--variants", nargs="+", default=["0", "0d"])
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    args.cache.mkdir(parents=True, exist_ok=True)
    session = open_session(args.cache, args.threads)
    photos = list_photos(args.data)
    order = np.random.default_rng(0).permutation(len(photos))
    mean, std = np.full(3, MEAN, np.float32), np.full(3, STD, np.float32)
    for variant in args.variants:
        view, drawn = int(variant.rstrip("d")), variant.endswith("d")
        path = args.cache / f"pooled_{variant}.npy"
        if not path.exists():
            np.lib.format.open_memmap(path, "w+", np.float16, (len(photos), 1280)).flush()
        pooled = np.load(path, mmap_mode="r+")
        todo = [int(i) for i in order if not pooled[i].any()]
        start = time.time()

        def pixels(i: int, view: int = view, drawn: bool = drawn) -> Array:
            image = training_view(photos[i], i, view, SIZE)
            image = draw(image, np.random.default_rng([i, view, 1])) if drawn else image
            return normalise([image], mean, std)

        for first in range(0, len(todo), BATCH):
            rows = todo[first : first + BATCH]
            batch = np.concatenate([pixels(i) for i in rows])
            pooled[rows] = session.run(["pooled"], {"pixel_values": batch})[0]
            if first % 800 == 0:
                print(f"variant {variant}: {first + len(rows)} of {len(todo)}, {time.time() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
