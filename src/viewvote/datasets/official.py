"""Opening a catalog dataset: found, read, and counted against its card."""

import os
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path, PurePosixPath

from ..errors import DatasetError
from .base import ImageFiles
from .catalog import Card
from .classes import listed
from .locate import Place, locate, no_images
from .readers.folders import read_folders
from .readers.splits import Row, aircraft_rows, coop_rows, table_rows

PROBED = 64
"""Images looked for in every folder that may hold them, to find the one that does."""


def open_card(card: Card, root: Path) -> ImageFiles:
    """The dataset of a card below `root`. What is wrongly labelled is an error; what is not all there, a problem."""
    place = locate(card, root)
    if place.split is None:
        found = read_folders(place.folder, name=card.name, classes=card.class_list, card=card.name)
        problems = tuple(_miscounts(card, found))
    else:
        found = _read_rows(card, place, _rows(card, place.split))
        problems = (*_absent_files(found), *_miscounts(card, found), *_other_split(card, place.split, found))
    notes = (*problems, *found.notes)
    return replace(found, templates=(card.template,), complete=not problems, problems=problems, notes=notes)


def _rows(card: Card, split: Path) -> list[Row]:
    if card.reader == "lists":
        return aircraft_rows(split, card.class_list)
    return (coop_rows if split.suffix == ".json" else table_rows)(split, card.class_list)


def _read_rows(card: Card, place: Place, rows: Sequence[Row]) -> ImageFiles:
    """The images that a split lists, in the order of their paths: also those whose files are missing."""
    labels = {row.path: row.label for row in rows}
    if len(labels) < len(rows):
        twice = [path for path, count in Counter(row.path for row in rows).items() if count > 1]
        raise DatasetError(f"{place.split} lists images more than once: {listed(twice)}. Take the original file.")
    keys = tuple(sorted(labels))
    folder, paths = _image_paths(card, place.folder, keys)
    return ImageFiles(
        name=card.name,
        folder=folder,
        keys=keys,
        paths=paths,
        targets=tuple(labels[key] for key in keys),
        class_names=card.class_list.names,
        card=card.name,
    )


def _image_paths(card: Card, folder: Path, keys: tuple[str, ...]) -> tuple[Path, tuple[str, ...] | None]:
    """Where the images of a split lie: the folder and, where a layout has moved them, their paths below it."""
    moves = [("", ""), *((old, new) for old, places in card.moved.items() for new in places)]
    probes = keys[:: max(1, len(keys) // PROBED)]
    best, most = (folder, ("", "")), 0
    for inner in card.inside:
        for old, new in moves:
            hits = sum(os.path.isfile(folder / inner / _moved(key, old, new)) for key in probes)  # noqa: PTH113 - never raises
            if hits > most:
                best, most = (folder / inner, (old, new)), hits
    if not most:
        raise no_images(card, folder, probes[0])
    images, (old, new) = best
    return images, tuple(_moved(key, old, new) for key in keys) if old else None


def _moved(key: str, old: str, new: str) -> str:
    return new + key[len(old) :] if old and key.startswith(old) else key


def _missing(folder: Path, paths: Sequence[str]) -> list[str]:
    """The paths with no file; every folder is listed once instead of asking for every file."""
    by_folder: dict[str, list[str]] = defaultdict(list)
    for path in paths:
        by_folder[str(PurePosixPath(path).parent)].append(path)
    missing = []
    for inner, inside in by_folder.items():
        place = folder / inner
        present = {entry.name for entry in place.iterdir()} if os.path.isdir(place) else set()  # noqa: PTH112 - likewise
        missing += [path for path in inside if PurePosixPath(path).name not in present]
    return missing


def _absent_files(found: ImageFiles) -> Iterator[str]:
    missing = _missing(found.folder, found.paths or found.keys)
    if missing:
        share = f"{len(missing):,} of the {len(found):,} images of the split"
        yield f"{share} are missing in {found.folder}: {listed(missing)}."


def _miscounts(card: Card, found: ImageFiles) -> Iterator[str]:
    """What the counts of images and classes lack, or have too many, by the card."""
    if len(found) != card.images:
        yield f"{len(found):,} images; the full test split has {card.images:,}."
    counts = Counter(found.targets)
    without = [name for label, name in enumerate(found.class_names) if label not in counts]
    if without:
        yield f"{len(without)} of the {len(found.class_names)} classes have no image: {listed(without)}."
    if card.per_class is not None:
        other = [found.class_names[label] for label in sorted(counts) if counts[label] != card.per_class]
        if other:
            yield f"{len(other)} classes have other than {card.per_class} images: {listed(other)}."


def _other_split(card: Card, split: Path, found: ImageFiles) -> Iterator[str]:
    """Whether the test images are other ones than those of CoOp's published file, of which only a hash is kept."""
    if card.test is None or split.suffix != ".json":
        return
    lines = sorted(f"{key}\t{target}\n" for key, target in zip(found.keys, found.targets, strict=True))
    if sha256("".join(lines).encode()).hexdigest() != card.test:
        yield f"{split} is not the test split that CoOp published."
