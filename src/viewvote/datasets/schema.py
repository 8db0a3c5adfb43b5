"""Checking the tables of a TOML file that a user writes: every error names the file, the key and what it expects."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import UsageError
from ..fields import is_whole, shown
from ..registry import unknown_name


@dataclass(frozen=True)
class Key:
    """A key of a table: what its value must be, in words and as a test."""

    expected: str
    accepts: Callable[[Any], bool]
    required: bool = False


def text(*, required: bool = False) -> Key:
    """A key for a text that is not empty."""
    return Key("a text", _is_text, required)


def texts(*, required: bool = False) -> Key:
    """A key for a list of texts that is not empty."""
    return Key("a list of texts", _are_texts, required)


def text_or_texts(what: str, *, required: bool = False) -> Key:
    """A key for a text, or for a list of them."""
    return Key(what, lambda value: _is_text(value) or _are_texts(value), required)


def whole(*, required: bool = False) -> Key:
    """A key for a whole number of at least 1."""
    return Key("a whole number of at least 1", lambda value: is_whole(value) and value >= 1, required)


def one_of(choices: Iterable[str], *, required: bool = False) -> Key:
    """A key for one of these words."""
    known = tuple(choices)
    return Key(" or ".join(map(repr, known)), lambda value: isinstance(value, str) and value in known, required)


def table() -> Key:
    """A key for a table."""
    return Key("a table", lambda value: isinstance(value, dict))


def check_table(values: object, keys: Mapping[str, Key], *, where: str) -> dict[str, Any]:
    """The table, or a UsageError for the first key that is unknown, wrong or missing; `where` names file and table."""
    if not isinstance(values, dict):
        raise UsageError(f"{where} must be a table; got {shown(values)}.")
    for name, value in values.items():
        if name not in keys:
            raise unknown_name("key", name, keys, of=where)
        if not keys[name].accepts(value):
            raise UsageError(f"{where}: {name} must be {keys[name].expected}; got {shown(value)}.")
    for name, key in keys.items():
        if key.required and name not in values:
            raise UsageError(f"{where}: {name} is missing; expected {key.expected}.")
    return values


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_is_text, value))
