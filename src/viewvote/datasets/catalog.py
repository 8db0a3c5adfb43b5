"""The catalog: cards as data, the class lists they name, and the suites of the paper's tables."""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Literal

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

    @property
    def class_list(self) -> ClassList:
        """The dataset's classes in label order."""
        return class_list(self.classes or self.name)

    @property
    def described_at(self) -> str:
        """Where the dataset is described, and CoOp's split files where it needs one."""
        return f"{self.source} (split files: {SPLITS_SOURCE})" if self.reader == "split" else self.source


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


@cache
def _class_lists() -> dict[str, Any]:
    lists: dict[str, Any] = json.loads((_DATA / "classes.json").read_text(encoding="utf-8"))
    return lists


def _card(name: str, fields: Mapping[str, Any]) -> Card:
    frozen: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in fields.items()}
    return Card(name=name, **frozen)


_TOML = tomllib.loads((_DATA / "catalog.toml").read_text(encoding="utf-8"))
CATALOG: Mapping[str, Card] = {name: _card(name, fields) for name, fields in _TOML["cards"].items()}
SUITES: Mapping[str, tuple[str, ...]] = {
    **{name: tuple(members) for name, members in _TOML["suites"].items()},
    "all": tuple(CATALOG),
}
