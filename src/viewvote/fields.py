"""Typed access to what files hold: every error names the file, the key and what was expected of its value."""

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from reprlib import Repr
from typing import Any, Generic, TypeVar, get_args

from .errors import ViewvoteError

T = TypeVar("T")
LARGEST = 2**53
"""Whole numbers above it are not what they seem in other programs' JSON, nor of use in any file here."""

_short = Repr()
_short.maxstring = _short.maxother = _short.maxlong = 60


@dataclass(frozen=True)
class Kind(Generic[T]):
    """What a value must be, in words and as a test, and how it is returned."""

    expected: str
    accepts: Callable[[Any], bool]
    convert: Callable[[Any], T] = lambda value: value


_REQUIRED: Any = object()


class Fields:
    """The values of an object in a file; `source` names it in errors, which are of the class `error`."""

    def __init__(self, data: object, source: str, *, error: type[ViewvoteError]) -> None:
        if not isinstance(data, Mapping):
            raise error(f"{source} is {shown(data)}, expected an object with keys.")
        self.data: Mapping[str, Any] = data
        self.source, self.error = source, error

    def __call__(self, key: str, kind: Kind[T], *, default: T = _REQUIRED) -> T:
        """The value under a key; without a default the key must be there."""
        if key not in self.data:
            if default is _REQUIRED:
                raise self.error(f"{self.source}: {key!r} is missing, expected {kind.expected}.")
            return default
        return self._checked(key, self.data[key], kind)

    def optional(self, key: str, kind: Kind[T]) -> T | None:
        """The value under a key, or None where there is none or it is null."""
        return None if self.data.get(key) is None else self._checked(key, self.data[key], kind)

    def objects(self, key: str) -> list["Fields"]:
        """The objects in the list under a key, each with a source of its own."""
        found = self(key, list_of(TABLE))
        return [Fields(one, f"{self.source}: {key}[{i}]", error=self.error) for i, one in enumerate(found)]

    def check_keys(self, known: Collection[str]) -> None:
        """Raise the error for a key that is not known."""
        for key in self.data:
            if key not in known:
                raise self.error(f"{self.source}: {shown(key)} is not a key of it; expected {', '.join(known)}.")

    def wrong(self, key: str, expected: str) -> ViewvoteError:
        """The error for a value that does not fit others."""
        return self.error(f"{self.source}: {key!r} is {shown(self.data.get(key))}, expected {expected}.")

    def _checked(self, key: str, value: Any, kind: Kind[T]) -> T:
        if not kind.accepts(value):
            raise self.error(f"{self.source}: {key!r} is {shown(value)}, expected {kind.expected}.")
        return kind.convert(value)


def shown(value: object) -> str:
    """The value as Python writes it, with its middle left out where it is long or deep."""
    return _short.repr(value)


def is_whole(value: object) -> bool:
    """Whether this is a whole number of a size that means something."""
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= LARGEST


def is_number(value: object) -> bool:
    """Whether this is a finite number."""
    return is_whole(value) or (isinstance(value, float) and math.isfinite(value))


def is_text(value: object) -> bool:
    """Whether this is a text of characters that can be written: no halves of pairs, which JSON may have."""
    if not isinstance(value, str):
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


TEXT: Kind[str] = Kind("a text", lambda value: is_text(value) and bool(value))
NUMBER: Kind[float] = Kind("a number", is_number, float)
POSITIVE: Kind[float] = Kind("a number above 0", lambda value: is_number(value) and value > 0, float)
SHARE: Kind[float] = Kind("a number above 0 and at most 1", lambda value: is_number(value) and 0 < value <= 1, float)
TRUTH: Kind[bool] = Kind("true or false", lambda value: isinstance(value, bool))
TABLE: Kind[Mapping[str, Any]] = Kind("an object", lambda value: isinstance(value, dict))


def whole(least: int, most: int = LARGEST) -> Kind[int]:
    """A whole number of at least this, and at most that."""
    bound = f"of at least {least}" if most == LARGEST else f"from {least} to {most:,}"
    return Kind(f"a whole number {bound}", lambda value: is_whole(value) and least <= value <= most)


def one_of(literal: Any) -> Kind[Any]:
    """One of the texts of a Literal type."""
    choices = get_args(literal)
    return Kind("one of " + ", ".join(choices), lambda value: isinstance(value, str) and value in choices)


def or_null(kind: Kind[T]) -> Kind[T | None]:
    """A value of the kind, or null."""
    return Kind(
        f"{kind.expected} or null",
        lambda value: value is None or kind.accepts(value),
        lambda value: None if value is None else kind.convert(value),
    )


def list_of(kind: Kind[T], *, length: int | None = None) -> Kind[tuple[T, ...]]:
    """A list of values of a kind, of any length or of this one."""
    which = "a list" if length is None else f"a list of {length} values"
    return Kind(
        f"{which}, each {kind.expected}",
        lambda value: isinstance(value, list) and length in (None, len(value)) and all(map(kind.accepts, value)),
        lambda value: tuple(map(kind.convert, value)),
    )


def table_of(kind: Kind[T]) -> Kind[Mapping[str, T]]:
    """An object whose values are of a kind."""
    return Kind(
        f"an object, under each key {kind.expected}",
        lambda value: isinstance(value, dict) and all(map(kind.accepts, value.values())),
        lambda value: {key: kind.convert(one) for key, one in value.items()},
    )
