"""Opening any dataset: a catalog name, a folder of class folders, a table, or one of Hugging Face's."""

import os
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from ..errors import DatasetError, UsageError
from ..reading import read_text
from ..registry import unknown_name
from .base import PHOTO, Dataset
from .cards import use_cards
from .catalog import CATALOG, SUITES, Card, card, class_list
from .classes import ClassList, is_wnid
from .locate import data_root, root_of
from .official import open_card
from .readers.folders import folders_in, read_folders
from .readers.hf import PREFIX, open_hf
from .readers.tables import SUFFIXES, read_table


@dataclass(frozen=True)
class Meaning:
    """What labels mean: the classes, and the card they come from."""

    classes: ClassList | None = None
    card: str | None = None
    templates: tuple[str, ...] = PHOTO


def open_dataset(name: str | Path, *, root: Path | None = None, classes: str | Path | None = None) -> Dataset:
    """The dataset of a name, checked against what is known of it; nothing is downloaded but "hf:owner/name".

    name     a catalog name ("imagenet-a"), a folder of class folders, a .csv or .jsonl of path and label, or
             "hf:DIR" and "hf:owner/name" for the `datasets` library; a folder called like a catalog name is "./name"
    root     the folder that holds the catalog's datasets; None: that of the variable VIEWVOTE_DATA
    classes  what the labels of your own data mean: a catalog name, or a text file with one class name a line; None
             finds it out where the folders are those of a catalog dataset, and else takes their names
    """
    use_cards()
    if isinstance(name, str) and name in CATALOG:
        if classes is not None:
            raise UsageError(f"{name!r} has its own classes; `classes` is for folders, tables and hf: datasets.")
        found = CATALOG[name]
        return open_card(found, root_of(found, root) or data_root(root))
    text, path = str(name), Path(name)
    meaning = _given(classes)
    if text.startswith(PREFIX):
        chosen = meaning or Meaning()
        return open_hf(text[len(PREFIX) :], classes=chosen.classes, templates=chosen.templates, card=chosen.card)
    if os.path.isdir(path):  # noqa: PTH112 - Path.is_dir raises OSError for a name that is too long
        chosen = meaning or _recognised(path)
        return read_folders(path, classes=chosen.classes, templates=chosen.templates, card=chosen.card)
    if path.suffix.lower() in SUFFIXES:
        if not os.path.exists(path):  # noqa: PTH110 - likewise
            raise UsageError(f"no such file: {text}")
        chosen = meaning or Meaning()
        return read_table(path, classes=chosen.classes, templates=chosen.templates, card=chosen.card)
    if text in SUITES:
        raise UsageError(
            f"{text!r} is a suite of {len(SUITES[text])} datasets; open one of: {', '.join(SUITES[text])}."
        )
    if len(path.parts) > 1 or text.startswith("."):
        raise UsageError(f"no such folder or file: {text}")
    raise unknown_name("dataset", text, [*CATALOG, "a folder", "a .csv or .jsonl file", "hf:NAME"])


def read_class_names(classes: str | Path) -> tuple[str, ...]:
    """The names of a catalog's dataset, or of a file with one a line, in the order of their labels."""
    found = _given(classes)
    return found.classes.names if found and found.classes else ()


def _given(classes: str | Path | None) -> Meaning | None:
    """The classes that were asked for by a catalog name or a file of names."""
    if classes is None:
        return None
    if isinstance(classes, Path) or os.path.isfile(classes):  # noqa: PTH113 - likewise
        names = [line.strip() for line in read_text(Path(classes), error=DatasetError).splitlines() if line.strip()]
        if not names:
            raise DatasetError(f"{classes} holds no class names; expected one a line.")
        return Meaning(ClassList(tuple(names)))
    return _of_card(card(classes))


def _of_card(found: Card) -> Meaning:
    return Meaning(found.class_list, found.name, (found.template,))


def _recognised(path: Path) -> Meaning:
    """What a folder's class folders mean: all the classes of a card, some of ImageNet's, or just what they say."""
    folders = folders_in(path)
    cards = [card for card in CATALOG.values() if _is_all_of(folders, card.class_list)]
    alike = [card for card in cards if _is_called_like(path, card)]
    numbers = bool(folders) and all(folder.isdecimal() for folder in folders)
    if alike:
        return _of_card(alike[0])
    if numbers:
        raise DatasetError(
            f"the class folders of {path} are numbers ({folders[0]}, ...): say which classes they count with "
            "classes (--classes): a catalog name such as imagenet-v2, or a file with one name a line."
        )
    if cards:  # several share ImageNet's thousand classes: those are certain, which dataset it is stays open
        return _of_card(cards[0]) if len(cards) == 1 else Meaning(cards[0].class_list)
    imagenet = class_list("imagenet")
    labels = sorted(label for label in map(imagenet.index_of, folders) if label is not None)
    if folders and all(map(is_wnid, folders)) and len(labels) == len(folders):
        names, wnids = (tuple(column[i] for i in labels) for column in (imagenet.names, imagenet.wnids))
        return Meaning(ClassList(names, wnids))
    return Meaning()


def _is_all_of(folders: list[str], classes: ClassList) -> bool:
    """Whether the folders are these classes, each once."""
    return len(folders) == len(classes.names) and {classes.index_of(f) for f in folders} == set(range(len(folders)))


def _is_called_like(path: Path, card: Card) -> bool:
    """Whether the folder lies where a layout has this dataset, or carries its name."""
    place = path.resolve()
    layouts = [PurePosixPath(folder).parts for folder in card.folders]
    at_place = any(place.parts[-len(parts) :] == parts for parts in layouts)
    return at_place or place.name in {card.name, *(parts[0] for parts in layouts)}
