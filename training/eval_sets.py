"""The evaluation sets: photographs, class names, labels."""

from __future__ import annotations

from argparse import ArgumentTypeError
from dataclasses import dataclass
from pathlib import Path

from viewvote.datasets import open_dataset

SETS = (
    "imagenet",
    "oxford_pets",
    "oxford_flowers",
    "caltech101",
    "eurosat",
    "stanford_cars",
    "dtd_10classes",
    "pacs_photo",
    "pacs_art_painting",
    "pacs_cartoon",
    "pacs_sketch",
)


@dataclass(frozen=True)
class Benchmark:
    """A set of labelled photographs and the names of its classes."""

    name: str
    classes: tuple[str, ...]
    paths: tuple[Path, ...]
    labels: tuple[int, ...]


def data_folder(text: str) -> Path:
    """The folder behind `--data`, where the evaluation sets are; for argparse."""
    if not (Path(text) / "eval").is_dir():
        raise ArgumentTypeError(f"{text} has no folder eval/ with the sets (training/README.md says which).")
    return Path(text)


def load_benchmark(data: Path, name: str) -> Benchmark:
    """The set, its files in sorted order."""
    dataset = open_dataset(data / "eval" / name)
    paths = tuple(Path(str(item.image)) for item in dataset)
    return Benchmark(name, dataset.class_names, paths, dataset.targets)
