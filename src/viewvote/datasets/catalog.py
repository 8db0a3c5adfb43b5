"""The catalog: cards as data, the class lists they name, and the suites of the paper's tables."""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Literal

from ..errors import UsageError
from ..registry import unknown_name
from .classes import ClassList

SPLITS_SOURCE = "https://github.com/KaiyangZhou/CoOp/blob/main/DATASETS.md"
"""Where CoOp describes its split files."""

_DATA = files("viewvote.datasets") / "data"


@dataclass(frozen=True)
class Card:
    """What is known of one dataset; the fields are described in data/catalog.toml."""

    name: str
    title: str
    column: str
    reader: Literal["folders", "split", "lists"]
    images: int
    folders: tuple[str, ...]
    template: str
    source: str
    classes: str = ""
    per_class: int | None = None
    inside: tuple[str, ...] = ()
    moved: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    split: str = ""
    annotations: str = ""
    test: str | None = None
    file: str = ""  # of a card that a user wrote
    own_classes: ClassList | None = None  # that such a card brings

    @property
    def class_list(self) -> ClassList:
        """The dataset's classes in label order."""
        return self.own_classes or class_list(self.classes or self.name)

    @property
    def described_at(self) -> str:
        """Where the dataset is described, and CoOp's split files where it needs one."""
        needs_split = self.reader == "split" and not self.file
        return f"{self.source} (split files: {SPLITS_SOURCE})" if needs_split else self.source


@cache
def class_list(name: str) -> ClassList:
    """The classes under a name of data/classes.json; ImageNet-A and -R are the listed labels of ImageNet."""
    entry = _class_lists()[name]
    if "of" not in entry:
        return ClassList(tuple(entry["names"]), tuple(entry.get("wnids", ())))
    whole, labels = class_list(entry["of"]), entry["labels"]
    return ClassList(tuple(whole.names[i] for i in labels), tuple(whole.wnids[i] for i in labels))


def card(name: str) -> Card:
    """The card of a dataset, or an error that suggests what was meant."""
    if name not in CATALOG:
        raise unknown_name("dataset", name, [*CATALOG, *SUITES])
    return CATALOG[name]


def suite(name: str) -> list[str]:
    """The datasets of a suite in the paper's order."""
    if name not in SUITES:
        raise unknown_name("suite", name, SUITES)
    return list(SUITES[name])


def class_list_names() -> list[str]:
    """The names of the class lists in data/classes.json."""
    return list(_class_lists())


@cache
def _class_lists() -> dict[str, Any]:
    lists: dict[str, Any] = json.loads((_DATA / "classes.json").read_text(encoding="utf-8"))
    return lists


def _card(name: str, fields: Mapping[str, Any]) -> Card:
    frozen: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in fields.items()}
    return Card(name=name, **frozen)


_TOML = tomllib.loads((_DATA / "catalog.toml").read_text(encoding="utf-8"))
_cards: dict[str, Card] = {name: _card(name, fields) for name, fields in _TOML["cards"].items()}
_suites: dict[str, tuple[str, ...]] = {
    **{name: tuple(members) for name, members in _TOML["suites"].items()},
    "all": tuple(_cards),
}
_SHIPPED_SUITES = frozenset(_suites)
CATALOG: Mapping[str, Card] = MappingProxyType(_cards)
"""The paper's datasets, and those of users' own cards (`add_cards`)."""
SUITES: Mapping[str, tuple[str, ...]] = MappingProxyType(_suites)
"""Names for several datasets; "all" are the paper's."""


def add_cards(cards: Mapping[str, Card], suites: Mapping[str, tuple[str, ...]] | None = None) -> None:
    """Add cards and suites to the catalog; a name that is taken is an error, and nothing is added.

    A card takes the place of one from the same file, and a suite that of one that was added before.
    """
    found = suites or {}
    for name in [*cards, *found]:
        replaced = name in cards and name in _cards and cards[name].file and cards[name].file == _cards[name].file
        replaced = replaced or (name in found and name in _suites and name not in _SHIPPED_SUITES)
        if (name in _cards or name in _suites) and not replaced:
            raise UsageError(f"dataset or suite {name!r} exists already; choose another name.")
    for name, members in found.items():
        for member in members:
            if member not in _cards and member not in cards:
                raise unknown_name(f"dataset, named in suite {name!r}", member, [*_cards, *cards])
    _cards.update(cards)
    _suites.update(found)


def added_cards() -> dict[str, Card]:
    """The cards that are not the catalog's own."""
    return {name: card for name, card in _cards.items() if card.file}
