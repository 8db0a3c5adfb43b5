"""Miniature copies of datasets on disk, in every layout that is recognised. Tests spoil them to get wrong ones."""

import json
from collections.abc import Iterable, Mapping
from functools import cache
from io import BytesIO
from pathlib import Path

from PIL import Image

from viewvote.datasets import CATALOG, Card

LAYOUTS = ("coop", "zero")
COLOURS = {"red": (230, 20, 20), "green": (20, 200, 20), "blue": (20, 20, 230), "yellow": (240, 230, 20)}

# Where each layout keeps images and split file below the data root, written out by hand from the two projects' READMEs.
IMAGES = {
    "imagenet": ("imagenet/images/val", "imagenet/val"),
    "imagenet-a": ("imagenet-adversarial/imagenet-a", "imagenet-a"),
    "imagenet-v2": ("imagenetv2/imagenetv2-matched-frequency-format-val", "imagenetv2-matched-frequency-format-val"),
    "imagenet-r": ("imagenet-rendition/imagenet-r", "imagenet-r"),
    "imagenet-sketch": ("imagenet-sketch/images", "imagenet-sketch"),
    "flowers102": ("oxford_flowers/jpg", "flower102/jpg"),
    "dtd": ("dtd/images", "dtd/images"),
    "pets": ("oxford_pets/images", "oxford_pets/images"),
    "cars": ("stanford_cars", "stanford_cars/images"),
    "ucf101": ("ucf101/UCF-101-midframes", "ucf101/images"),
    "caltech101": ("caltech-101/101_ObjectCategories", "caltech-101/images"),
    "food101": ("food-101/images", "food101/images"),
    "sun397": ("sun397/SUN397", "sun397/images"),
    "aircraft": ("fgvc_aircraft/images", "fgvc_aircraft/images"),
    "eurosat": ("eurosat/2750", "eurosat/images"),
}


@cache
def picture(colour: tuple[int, int, int] = (200, 60, 40), size: int = 24) -> bytes:
    """A real JPEG of one colour."""
    data = BytesIO()
    Image.new("RGB", (size, size), colour).save(data, "JPEG")
    return data.getvalue()


def put_images(folder: Path, paths: Iterable[str], *, colour: tuple[int, int, int] = (200, 60, 40)) -> Path:
    """The folder, with a small picture at each path below it."""
    data = picture(colour)
    for path in paths:
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    return folder


def colour_folders(folder: Path, *, per_class: int = 3, colours: Mapping[str, tuple[int, int, int]] = COLOURS) -> Path:
    """A folder of class folders that the toy model can tell apart: one colour per class."""
    for name, colour in colours.items():
        put_images(folder / name, [f"{i:03}.jpg" for i in range(per_class)], colour=colour)
    return folder


def build(root: Path, name: str, *, layout: str = "coop", per_class: int = 1) -> dict[str, int]:
    """Lays out a catalog dataset below `root` with a few images per class; returns the label of every key."""
    card = CATALOG[name]
    images = root / IMAGES[name][LAYOUTS.index(layout)]
    if card.reader == "folders":
        labels = _class_folders(card, per_class)
    elif card.reader == "lists":
        labels = {f"{1000000 + i * per_class + j}.jpg": i for i in range(100) for j in range(per_class)}
        _write_lists(images.parent, card, labels)
    else:
        labels = _split_paths(card, per_class)
        folder = images if name == "cars" and layout == "coop" else images.parent
        write_split(folder / card.split, [(path, i, card.class_list.names[i]) for path, i in labels.items()])
    on_disk = labels
    if name == "cars" and layout == "zero":
        on_disk = {path.replace("cars_test/", "test/"): label for path, label in labels.items()}
    put_images(images, on_disk)
    return labels


def write_split(path: Path, test: Iterable[tuple[str, int, str]]) -> None:
    """A split file as CoOp writes it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [list(row) for row in test]
    path.write_text(json.dumps({"train": rows[:1], "val": rows[:1], "test": rows}))


def write_car_tables(folder: Path, labels: Mapping[str, int]) -> None:
    """The two tables that ZERO's layout of Stanford Cars has instead of a split file."""
    (folder / "annots").mkdir(parents=True, exist_ok=True)
    rows = "".join(f"{path},test\n" for path in labels)
    (folder / "annots" / "split_coop.csv").write_text(f"filename,split\ntrain/00001.jpg,train\n{rows}")
    rows = "".join(f"{path},{label}\n" for path, label in labels.items())
    (folder / "annots" / "labels.csv").write_text(f"filename,class_idx\ntrain/00001.jpg,3\n{rows}")


def _class_folders(card: Card, per_class: int) -> dict[str, int]:
    wnids = card.class_list.wnids
    folders = [str(i) for i in range(1000)] if card.name == "imagenet-v2" else list(wnids)
    return {f"{folder}/{j}.JPEG": i for i, folder in enumerate(folders) for j in range(per_class)}


def _split_paths(card: Card, per_class: int) -> dict[str, int]:
    """Paths shaped as in the real split files."""
    labels = {}
    for i, name in enumerate(card.class_list.names):
        for j in range(per_class):
            number = i * per_class + j
            labels[_path(card.name, name, number)] = i
    return labels


def _path(dataset: str, name: str, number: int) -> str:
    word = name.replace(" ", "_")
    special, _, general = name.partition(" ")
    match dataset:
        case "flowers102":
            return f"image_{number:05}.jpg"
        case "pets":
            return f"{word}_{number}.jpg"
        case "cars":
            return f"cars_test/{number:05}.jpg"
        case "sun397" if special in ("indoor", "outdoor") and general:
            return f"{general[0]}/{general.replace(' ', '_')}/{special}/sun_{number}.jpg"
        case "sun397":
            return f"{word[0]}/{word}/sun_{number}.jpg"
        case "eurosat":
            folder = "".join(name.split()[:2])
            return f"{folder}/{folder}_{number}.jpg"
        case "caltech101" if name in ("face", "airplane", "leopard", "motorbike"):
            return f"{name.capitalize()}s/image_{number:04}.jpg"
        case _:
            return f"{word}/{word}_{number}.jpg"


def _write_lists(folder: Path, card: Card, labels: Mapping[str, int]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    names = card.class_list.names
    (folder / "variants.txt").write_text("".join(f"{name}\n" for name in names))
    lines = [f"{path.removesuffix('.jpg')} {names[label]}\n" for path, label in labels.items()]
    (folder / "images_variant_test.txt").write_text("".join(lines))
