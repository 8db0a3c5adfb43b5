"""The training photographs, and the seeded square views of them that every step shares."""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

Array = NDArray[np.float32]
Pixels = NDArray[np.uint8]


@dataclass(frozen=True)
class Photo:
    """A photograph: its file, its ImageNet label or -1, its captions."""

    path: Path
    label: int
    captions: tuple[str, ...] = ()


def list_photos(data: Path) -> list[Photo]:
    """The labelled photographs, then the captioned ones, in a fixed order."""
    labelled = [Photo(p, int(p.parent.name.split("_")[0])) for p in sorted((data / "train/imagenet").glob("*/*.jpg"))]
    captions: dict[str, list[str]] = {}
    with (data / "train/flickr8k/captions.csv").open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            captions.setdefault(row["image"], []).append(row["caption"].strip().removesuffix(".").strip())
    folder = data / "train/flickr8k/images"
    captioned = [Photo(folder / name, -1, tuple(lines)) for name, lines in sorted(captions.items())]
    return labelled + [photo for photo in captioned if photo.path.exists()]


def open_rgb(path: Path) -> Image.Image:
    """The decoded photograph."""
    with Image.open(path) as image:
        return image.convert("RGB")


def source_view(image: Image.Image, size: int) -> Image.Image:
    """The short side resized to `size` (bicubic), then the central square."""
    width, height = image.size
    scale = size / min(width, height)
    image = image.resize((max(size, round(width * scale)), max(size, round(height * scale))), Image.Resampling.BICUBIC)
    left, top = (image.width - size) // 2, (image.height - size) // 2
    return image.crop((left, top, left + size, top + size))


def random_view(image: Image.Image, size: int, rng: np.random.Generator, *, smallest: float) -> Image.Image:
    """A random resized crop (area in [smallest, 1], log-uniform ratio in [3/4, 4/3]), flipped half of the time."""
    width, height = image.size
    for _ in range(10):
        area = width * height * rng.uniform(smallest, 1)
        ratio = math.exp(rng.uniform(math.log(3 / 4), math.log(4 / 3)))
        w, h = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
        if 0 < w <= width and 0 < h <= height:
            break
    else:
        w = h = min(width, height)
    left, top = int(rng.integers(0, width - w + 1)), int(rng.integers(0, height - h + 1))
    box = (left, top, left + w, top + h)
    view = image.resize((size, size), Image.Resampling.BILINEAR, box=box)
    return view.transpose(Image.Transpose.FLIP_LEFT_RIGHT) if rng.random() < 0.5 else view


def training_view(photo: Photo, index: int, view: int, size: int) -> Image.Image:
    """View 0 is the source view; view v > 0 a random one, a function of (index, v) alone so that every step sees it."""
    image = open_rgb(photo.path)
    if view == 0:
        return source_view(image, size)
    return random_view(image, size, np.random.default_rng([index, view]), smallest=0.2)


def normalise(views: list[Image.Image], mean: Array, std: Array) -> Array:
    """Views as float32 (views, 3, size, size), normalised per channel."""
    pixels = np.stack([np.asarray(v, np.float32) for v in views]).transpose(0, 3, 1, 2) / 255
    return (pixels - mean[:, None, None]) / std[:, None, None]
