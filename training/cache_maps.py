"""Step 1: cache what the frozen early blocks make of the training views, plain and drawn (resumable)."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import onnxruntime as ort
from lite import MEAN, STD, load_lite
from photos import Array, list_photos, normalise, training_view
from sources import lite_checkpoint
from styles import draw
from vision_graph import save_features

TOWER, SIZE, CUT = "lite1", 224, 16
BATCH = 16


def open_session(cache: Path, threads: int) -> ort.InferenceSession:
    """The frozen tower, with the map after `CUT` blocks and the pooled features as outputs."""
    graph = cache / f"{TOWER}_features.onnx"
    if not graph.exists():
        save_features(load_lite(lite_checkpoint(TOWER), TOWER), graph, SIZE, CUT)
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    return ort.InferenceSession(graph, options, providers=["CPUExecutionProvider"])


def main() -> None:
    """Fill `maps_<variant>.npy` and `pooled_<variant>.npy`; variant '0' is plain view 0, '0d' the same view drawn."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--cache", type=Path, default=Path("cache"))
    parser.add_argument("--variants", nargs="+", default=["0", "0d"])
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    session = open_session(args.cache, args.threads)
    photos = list_photos(args.data)
    order = np.random.default_rng(0).permutation(len(photos))
    mean, std = np.full(3, MEAN, np.float32), np.full(3, STD, np.float32)
    for variant in args.variants:
        view, drawn = int(variant.rstrip("d")), variant.endswith("d")
        files = {"early": args.cache / f"maps_{variant}.npy", "pooled": args.cache / f"pooled_{variant}.npy"}
        shapes = {"early": (len(photos), 192, 7, 7), "pooled": (len(photos), 1280)}
        for key, path in files.items():
            if not path.exists():
                np.lib.format.open_memmap(path, "w+", np.float16, shapes[key]).flush()
        stored = {key: np.load(path, mmap_mode="r+") for key, path in files.items()}
        todo = [int(i) for i in order if not stored["pooled"][i].any()]
        start = time.time()

        def pixels(i: int, view: int = view, drawn: bool = drawn) -> Array:
            image = training_view(photos[i], i, view, SIZE)
            image = draw(image, np.random.default_rng([i, view, 1])) if drawn else image
            return normalise([image], mean, std)

        for first in range(0, len(todo), BATCH):
            rows = todo[first : first + BATCH]
            batch = np.concatenate([pixels(i) for i in rows])
            for key, value in zip(
                ("early", "pooled"), session.run(["early", "pooled"], {"pixel_values": batch}), strict=True
            ):
                stored[key][rows] = value
            if first % 800 == 0:
                print(f"variant {variant}: {first + len(rows)} of {len(todo)}, {time.time() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
