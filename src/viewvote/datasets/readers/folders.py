"""The folder reader: one folder per class, images anywhere below it."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from ...errors import DatasetError, DatasetNotFoundError
from ...files import walk_images
from ...images.photo import image_endings
from ...reading import reason
from ..base import PHOTO, ImageFiles
from ..classes import ClassList, classes_of_folders, listed, name_notes

SPLITS = frozenset(["train", "val", "valid", "validation", "test", "images"])
"""Folders of class folders rather than classes."""


def read_folders(
    folder: Path,
    *,
    name: str | None = None,
    classes: ClassList | None = None,
    templates: Sequence[str] = PHOTO,
    card: str | None = None,
) -> ImageFiles:
    """The images below the class folders of `folder`, sorted by path; `classes` where the folders name known ones."""
    found = class_folders(folder)
    empty = [name for name, keys in found.items() if not keys]
    filled = [name for name, keys in found.items() if keys]
    if classes is None:
        own, labels = classes_of_folders(filled)
    else:
        own, labels = classes, resolve_folders(folder, filled, classes)
    samples = sorted((key, labels[name]) for name in filled for key in found[name])
    return ImageFiles(
        name=name or folder.resolve().name,
        folder=folder,
        keys=tuple(key for key, _ in samples),
        targets=tuple(target for _, target in samples),
        class_names=own.names,
        templates=tuple(templates),
        card=card,
        notes=(*_empty_notes(empty), *name_notes(own.names)),
    )


def class_folders(folder: Path) -> dict[str, list[str]]:
    """The class folders of `folder` in order, with the paths of their images relative to it."""
    if not folder.is_dir():
        raise DatasetNotFoundError(f"no such folder: {folder}. Expected a folder with one folder of images per class.")
    entries = folders_in(folder)
    found = {entry: sorted(_images_below(folder, entry)) for entry in entries}
    if not any(found.values()):
        raise DatasetNotFoundError(
            f"{folder} has no class folders with images; expected {folder}/CLASS/IMAGE with one folder per class."
        )
    if set(found) <= SPLITS:
        inside = ", ".join(str(folder / entry) for entry in found)
        raise DatasetError(f"the folders of {folder} are splits, not classes; name one of them instead: {inside}.")
    return found


def folders_in(folder: Path) -> list[str]:
    """The names of the folders inside one, in order and without hidden ones; DatasetError where it cannot be listed."""
    try:
        return sorted(entry.name for entry in folder.iterdir() if entry.is_dir() and not entry.name.startswith("."))
    except OSError as error:
        raise _unlisted(error) from error


def _unlisted(error: OSError) -> DatasetError:
    """The error for a folder whose images cannot be listed: they would be missing without a word."""
    return DatasetError(
        f"cannot list {error.filename}: {reason(error)}. "
        "Its images belong to the dataset: make it readable, or move it away."
    )


def resolve_folders(folder: Path, folders: Sequence[str], classes: ClassList) -> dict[str, int]:
    """Each folder's label, or an error that names the folders which are none of the classes, or the same one."""
    labels = {name: classes.index_of(name) for name in folders}
    strange = [name for name, label in labels.items() if label is None]
    if strange:
        raise DatasetError(
            f"{len(strange)} of the {len(folders)} folders of {folder} are none of the {len(classes.names)} classes: "
            f"{listed(strange)}. Expected WordNet ids, labels, '<label>_<name>' or names such as {classes.names[0]!r}."
        )
    resolved = {name: label for name, label in labels.items() if label is not None}
    owner: dict[int, str] = {}
    for name, label in resolved.items():
        if label in owner:
            raise DatasetError(
                f"folders {owner[label]!r} and {name!r} of {folder} are both class {label} "
                f"({classes.names[label]}); merge them, or remove one."
            )
        owner[label] = name
    return resolved


def _images_below(folder: Path, entry: str) -> Iterator[str]:
    """The keys of one class's images: their posix paths below `folder`, hidden files and folders left out."""
    start = len(str(folder / "_")) - 1

    def unlisted(error: OSError) -> None:
        raise _unlisted(error) from error

    for path in walk_images(folder / entry, endings=image_endings(), hidden=False, on_error=unlisted):
        yield path[start:].replace(os.sep, "/")


def _empty_notes(empty: Sequence[str]) -> list[str]:
    return [f"{len(empty)} folders hold no images: {listed(empty)}."] if empty else []
