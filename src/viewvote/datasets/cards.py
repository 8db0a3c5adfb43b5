"""Cards that users write: TOML files that add datasets and suites to the catalog."""

import logging
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, get_args, get_type_hints

from ..errors import UsageError
from ..plugins import advertised, load_named_plugins
from ..reading import read_text, read_toml
from ..registry import unknown_name
from .base import PHOTO
from .catalog import CATALOG, Card, add_cards, class_list, class_list_names
from .classes import ClassList
from .schema import Key, check_table, one_of, table, text, text_or_texts, texts, whole

logger = logging.getLogger("viewvote")
CARDS_VARIABLE = "VIEWVOTE_DATASETS"
GROUP = "viewvote.datasets"
READERS: tuple[str, ...] = get_args(get_type_hints(Card)["reader"])

_KEYS = {
    "title": text(),
    "column": text(),
    "reader": one_of(READERS, required=True),
    "images": whole(required=True),
    "per_class": whole(),
    "folders": texts(required=True),
    "classes": text_or_texts("a list of names, a file with one name a line, or a class list's name", required=True),
    "wnids": texts(),
    "template": Key("a text with {} for the class", lambda value: isinstance(value, str) and "{}" in value),
    "source": text(),
    "inside": texts(),
    "moved": table(),
    "split": text(),
    "annotations": text(),
    "test": text(),
}
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")


@dataclass(frozen=True)
class Cards:
    """The cards and suites of a user's files."""

    cards: Mapping[str, Card]
    suites: Mapping[str, tuple[str, ...]]


def use_cards(path: Path | None = None) -> None:
    """Add the cards at `path` (see `load_cards`) to the catalog, those that VIEWVOTE_DATASETS names, and plugins'.

    That variable holds files and folders, separated as in PATH.
    """
    _use_plugins()
    named = os.environ.get(CARDS_VARIABLE, "").split(os.pathsep)
    for place in [*([path] if path else []), *(Path(name) for name in named if name)]:
        found = load_cards(place)
        add_cards(found.cards, found.suites)


def register_dataset(cards: Card | str | Path) -> None:
    """Add datasets of your own to the catalog.

    Args:
        cards: A card, or the path of a TOML file or a folder of them (see `load_cards`).
    """
    if isinstance(cards, Card):
        if CATALOG.get(cards.name) != cards:  # a plugin that is loaded again brings the same card
            add_cards({cards.name: cards})
        return
    found = load_cards(Path(cards))
    add_cards(found.cards, found.suites)


@cache
def _use_plugins() -> None:
    """Add the cards of installed packages, once; one that fails is reported, and the others are added."""
    for found in advertised(GROUP):
        try:
            brought = found.load()
            register_dataset(brought() if callable(brought) else brought)
        except Exception as error:  # noqa: BLE001 - code of another package
            logger.warning("the datasets of the package %s are left out: %s", found.package, error)
    load_named_plugins()


def load_cards(path: Path) -> Cards:
    """The cards in a TOML file, or in all of a folder; an error names the file, the key and what it expects.

    [cards.my-birds]
    reader = "folders"                    # one folder per class; or "split", a file as CoOp writes them
    folders = ["birds/test"]              # where it may lie: below the data root, or beside this file
    classes = "classes.txt"               # one name a line; or a list of names, or a catalog's list ("imagenet")
    images = 1200                         # size of the test split, which is checked
    template = "a photo of a {}, a bird." # by default "a photo of a {}."

    [suites]
    mine = ["my-birds", "pets"]
    """
    files = sorted(path.glob("*.toml")) if path.is_dir() else [path]
    if not files:
        raise UsageError(f"{path} holds no cards; expected files that end in .toml.")
    cards: dict[str, Card] = {}
    suites: dict[str, tuple[str, ...]] = {}
    for file in files:
        values = check_table(read_toml(file, error=UsageError), {"cards": table(), "suites": table()}, where=str(file))
        for name, fields in values.get("cards", {}).items():
            _check_new(name, [*cards, *suites], where=str(file))
            cards[name] = _card(name, fields, file=file.resolve())
        for name, members in values.get("suites", {}).items():
            _check_new(name, [*cards, *suites], where=str(file))
            check_table({name: members}, {name: texts()}, where=f"{file}, suites")
            suites[name] = tuple(members)
    return Cards(cards, suites)


def _check_new(name: str, known: list[str], *, where: str) -> None:
    """Raise UsageError unless the name can name a dataset, and is new."""
    if not _NAME.fullmatch(name):
        raise UsageError(f"{where}: {name!r} cannot name a dataset or suite; expected letters, digits and . _ + -.")
    if name in known:
        raise UsageError(f"{where}: {name!r} is there twice; every dataset and suite needs a name of its own.")


def _card(name: str, fields: object, *, file: Path) -> Card:
    where = f"{file}, cards.{name}"
    given = check_table(fields, _KEYS, where=where)
    if given["reader"] != "folders" and "split" not in given:
        raise UsageError(f"{where}: split is missing; expected the name of the file that lists the test images.")
    values: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in given.items()}
    wnids = values.pop("wnids", ())
    values["own_classes"] = _classes(values.pop("classes"), wnids, where=where, beside=file.parent)
    values["moved"] = {old: _places(new, where=f"{where}: moved") for old, new in given.get("moved", {}).items()}
    values["folders"] = _also_beside(values["folders"], file.parent)
    defaults = {"title": name, "column": name, "template": PHOTO[0], "source": str(file), "inside": ("",)}
    return Card(**{"name": name, **defaults, **values, "file": str(file)})


def _classes(given: str | tuple[str, ...], wnids: tuple[str, ...], *, where: str, beside: Path) -> ClassList:
    """The classes that a card names: in itself, in a file, or as one of the catalog's lists."""
    if isinstance(given, str) and given in class_list_names():
        return class_list(given)
    if isinstance(given, str):
        path = beside / given
        if not os.path.isfile(path):  # noqa: PTH113 - never raises, Path.is_file may
            raise unknown_name(f"file or class list, named as classes in {where}", given, class_list_names())
        given = tuple(line.strip() for line in read_text(path, error=UsageError).splitlines() if line.strip())
        if not given:
            raise UsageError(f"{where}: {path} holds no class names; expected one a line.")
    if wnids and len(wnids) != len(given):
        raise UsageError(f"{where}: wnids must be as many as the {len(given)} classes; got {len(wnids)}.")
    return ClassList(given, wnids)


def _places(given: object, *, where: str) -> tuple[str, ...]:
    found = check_table({"places": given}, {"places": texts()}, where=where)["places"]
    return tuple(found)


def _also_beside(folders: tuple[str, ...], beside: Path) -> tuple[str, ...]:
    """The folders, and then each of them beside the card's file."""
    return tuple(dict.fromkeys([*folders, *((beside / folder).as_posix() for folder in folders)]))
