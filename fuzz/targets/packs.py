"""Model folders: packs, and ONNX repositories as the hub has them; both towers are run."""

import random

import numpy as np

from viewvote.encoders import load_encoder

from ..mutators import join_files, split_files
from ..mutators import mutated_files as mutate
from ..pack_files import layout_files, pack_files
from ..worker import fresh

__all__ = ["mutate", "run", "seeds"]

LARGEST = 512
"""Pixels of a side that are run: a larger model is slow, not hostile."""


def seeds(rng: random.Random) -> list[bytes]:
    """A pack, a repository, and one with a configuration of ours beside it."""
    del rng
    pack, layout = pack_files(), layout_files()
    return [join_files(files) for files in (pack, layout, layout | {"viewvote.json": pack["viewvote.json"]})]


def run(data: bytes) -> None:
    """Load the folder, and encode two texts and two views."""
    folder = fresh("model")
    (folder / "onnx").mkdir()
    for name, content in split_files(data).items():
        place = folder / "onnx" if name.endswith("_model.onnx") else folder
        (place / name).write_bytes(content)
    encoder = load_encoder(f"onnx:{folder}")
    texts = encoder.encode_texts(["a photo of a dog", "zèbre \U0001f993"])
    assert texts.shape == (2, encoder.dim)
    side = encoder.image_spec.size
    if side <= LARGEST:
        views = encoder.encode_images(np.full((2, side, side, 3), 99, dtype=np.uint8))
        assert views.shape == (2, encoder.dim)
