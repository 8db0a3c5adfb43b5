"""What the steps share: the tower as a function, and the check of their arguments."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np

from viewvote.arrays import Float32, UInt8
from viewvote.encoders.clip_b16.tower import runnable_tower, tower_file
from viewvote.encoders.onnx.encoder import normalise, pixel_line
from viewvote.encoders.onnx.runtimes import open_session
from viewvote.files import default_cache_dir
from viewvote.images.spec import ImageSpec

DIM = 512
CAPTIONS = "train/flickr8k/captions.csv"  # by which a folder of training data is known


def need(parser: argparse.ArgumentParser, folder: Path, *names: str) -> None:
    """Nothing, if the folder has these files; else the end, with exit code 2."""
    missing = [name for name in names if not (folder / name).is_file()]
    if missing:
        parser.error(
            f"{folder} has no {', '.join(missing)}; training/clip_b16/README.md names the step that writes each"
        )


def open_tower() -> Callable[[UInt8], Float32]:
    """Unit features (views, 512) of uint8 views, by the graph that users run, on one thread."""
    graph = runnable_tower(tower_file(), precision="int8", cache_dir=default_cache_dir())
    session = open_session(graph)
    spec = ImageSpec(size=224)
    scale, shift = pixel_line(spec.mean, spec.std)

    def encode(views: UInt8) -> Float32:
        pixels = np.stack([normalise(view, scale=scale, shift=shift) for view in views])
        features = session.run({"pixel_values": pixels}, output="image_embeds")
        return features / np.linalg.norm(features, axis=1, keepdims=True)

    return encode
