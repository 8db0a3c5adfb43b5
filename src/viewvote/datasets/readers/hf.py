"""The Hugging Face reader: a dataset saved to disk, or one of the hub."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from ...errors import DatasetError, DatasetNotFoundError, MissingExtraError
from ...registry import unknown_name
from ..base import PHOTO, Item, Labelled
from ..classes import ClassList, name_notes
from .tables import label_words

PREFIX = "hf:"
OPTIONS = ("split", "config", "image", "label")
SPLITS = ("test", "validation", "val", "train")
"""The split that is taken where none is named: the first of these that exists."""


@dataclass(frozen=True, kw_only=True, eq=False)
class HubRows(Labelled):
    """A dataset of the `datasets` library; an item's key is its split and row."""

    rows: Any
    image_column: str

    def __getitem__(self, position: int, /) -> Item:
        """The item at a position; its row is read, and no other."""
        image = _encoded(self.rows[position][self.image_column])
        return Item(self.keys[position], image, self.targets[position])


def open_hf(
    spec: str, *, classes: ClassList | None = None, templates: tuple[str, ...] = PHOTO, card: str | None = None
) -> HubRows:
    """The dataset `DIR` or `owner/name`, with options as in "owner/name?config=large&split=test&image=img&label=fine".

    A folder is read where it lies; a name of the hub is fetched by the library, with its own cache and progress bars.
    """
    try:
        from datasets import Image
    except ImportError as error:
        raise MissingExtraError.for_extra("datasets", what=f"the Hugging Face dataset {spec}") from error
    place, _, query = spec.partition("?")
    options = dict(parse_qsl(query))
    for key in options:
        if key not in OPTIONS:
            raise unknown_name("option", key, OPTIONS, of="a Hugging Face dataset")
    split, rows = _split(place, _load(place, options.get("config")), options.get("split"))
    image = options.get("image") or _column(place, rows, "Image")
    label = options.get("label") or _column(place, rows, "ClassLabel", otherwise="label")
    for column in (image, label):
        if column not in rows.column_names:
            raise unknown_name("column", column, rows.column_names, of=place)
    if not len(rows):
        raise DatasetError(f"split {split!r} of {place} has no rows.")
    targets, own = _targets(place, rows, label, classes)
    return HubRows(
        name=Path(place).name,
        rows=rows.cast_column(image, Image(decode=False)).select_columns([image]),
        image_column=image,
        keys=tuple(f"{split}/{row}" for row in range(len(targets))),
        targets=targets,
        class_names=own.names,
        templates=templates,
        card=card,
        notes=tuple(name_notes(own.names)),
    )


def _load(place: str, config: str | None) -> Any:
    from datasets import load_dataset, load_from_disk

    try:
        if Path(place).is_dir():
            return load_from_disk(place)
        return load_dataset(place, config)
    except (OSError, ValueError, LookupError) as error:  # the last: the library on a folder saved without rows
        expected = "a folder written by save_to_disk, or owner/name of the hub"
        raise DatasetNotFoundError(
            f"cannot open the Hugging Face dataset {place}: {str(error).rstrip('.')}. Expected {expected}."
        ) from error


def _split(place: str, loaded: Any, wanted: str | None) -> tuple[str, Any]:
    """The split's name and rows. A single split may be saved without a name."""
    if not isinstance(loaded, Mapping):
        name = str(loaded.split or wanted or "all")
        if wanted not in (None, name):
            raise unknown_name("split", str(wanted), [name], of=place)
        return name, loaded
    found = wanted or next((name for name in SPLITS if name in loaded), "")
    if found not in loaded:
        raise unknown_name("split", found, map(str, loaded), of=place)
    return found, loaded[found]


def _column(place: str, rows: Any, kind: str, *, otherwise: str = "") -> str:
    """The first column of that kind."""
    of_kind = (name for name, feature in rows.features.items() if type(feature).__name__ == kind)
    found = next(of_kind, otherwise)
    if not found:
        raise DatasetError(f"{place} has no column of type {kind}; name one with ?image=COLUMN: {rows.column_names}.")
    return found


def _targets(place: str, rows: Any, label: str, classes: ClassList | None) -> tuple[tuple[int, ...], ClassList]:
    """Every row's class. Given classes are found by the names that the column carries, else by its numbers."""
    values = rows[label][:]
    names = getattr(rows.features[label], "names", None)
    if names is None:
        words = [str(value) for value in values]
    elif any(value is None or value < 0 for value in values):
        raise DatasetError(f"{place} has rows without a label (a hidden test split?); choose another with ?split=NAME.")
    elif classes is None:
        return tuple(values), ClassList(tuple(str(name).replace("_", " ") for name in names))
    else:
        by_number = len(names) == len(classes.names) and any(classes.index_of(name) is None for name in names)
        words = [str(value) if by_number else names[value] for value in values]
    labels, own = label_words(sorted(set(words)), classes, where=f"column {label!r} of {place}")
    return tuple(labels[word] for word in words), own


def _encoded(image: Mapping[str, Any] | None) -> bytes | str:
    """The file's bytes, or its path where the dataset only points at it; without an image, bytes that are none."""
    source: bytes | str | None = (image["bytes"] or image["path"]) if image else None
    return b"" if source is None else source
