"""The evaluation sets: photographs, class names, labels."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

COOP = {
    "oxford_pets": "OxfordPets",
    "oxford_flowers": "OxfordFlowers",
    "caltech101": "Caltech101",
    "eurosat": "EuroSAT",
    "stanford_cars": "StanfordCars",
}
PACS = ("pacs_photo", "pacs_art_painting", "pacs_cartoon", "pacs_sketch")
SETS = ("imagenet", *COOP, "dtd_10classes", *PACS)


@dataclass(frozen=True)
class Benchmark:
    """A set of labelled photographs and the names of its classes."""

    name: str
    classes: tuple[str, ...]
    paths: tuple[Path, ...]
    labels: tuple[int, ...]


def load_benchmark(data: Path, name: str) -> Benchmark:
    """The set, its files in sorted order; folders are `<label>_<name>`, or plain names for PACS."""
    paths = tuple(sorted((data / "eval" / name).glob("*/*.jpg")))
    folders = sorted({path.parent.name for path in paths})
    if name in PACS:
        classes = folders
        labels = [folders.index(path.parent.name) for path in paths]
    else:
        labels = [int(path.parent.name.split("_")[0]) for path in paths]
        if name == "imagenet":
            classes = [
                entry["clip_name"] for entry in json.loads((data / "metadata/imagenet_classes.json").read_text())
            ]
        elif name in COOP:
            classes = json.loads((data / "metadata/coop_classnames.json").read_text())[COOP[name]]
        else:
            classes = [folder.split("_", 1)[1] for folder in folders]
            numbers = [int(folder.split("_")[0]) for folder in folders]
            labels = [numbers.index(label) for label in labels]
    return Benchmark(name, tuple(c.replace("_", " ") for c in classes), paths, tuple(labels))
