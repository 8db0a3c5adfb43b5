"""Registries map public names to `"module:attribute"` and import it only when asked for."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from typing import Generic, TypeVar

from .errors import UnknownNameError, UsageError

T = TypeVar("T")


@dataclass(frozen=True)
class Entry:
    """Where a name is implemented, one line about it, and the extra it needs (if any)."""

    target: str
    summary: str
    extra: str | None = None


class Registry(Generic[T]):
    """The names of one kind; `kind` is the word that errors use ("method", "model scheme", ...)."""

    def __init__(self, kind: str, entries: Mapping[str, Entry]) -> None:
        self.kind = kind
        self._entries = dict(entries)
        self._objects: dict[str, T] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(sorted({*self._entries, *self._objects}))

    def __contains__(self, name: object) -> bool:
        return name in self._entries or name in self._objects

    def entry(self, name: str) -> Entry:
        """The entry of `name`, or an error that suggests what was meant."""
        if name not in self._entries:
            raise unknown_name(self.kind, name, self)
        return self._entries[name]

    def get(self, name: str) -> T:
        """The object behind `name`, imported on first use."""
        if name not in self._objects:
            module, _, attribute = self.entry(name).target.partition(":")
            self._objects[name] = getattr(import_module(module), attribute)
        return self._objects[name]

    def register(self, name: str, obj: T, *, summary: str) -> None:
        """Add a name of your own; taking an existing one is an error."""
        if name in self:
            raise UsageError(f"{self.kind} {name!r} exists already; choose another name.")
        self._entries[name] = Entry(target="", summary=summary)
        self._objects[name] = obj


def unknown_name(kind: str, name: str, known: Iterable[str]) -> UnknownNameError:
    """The error for a name that is not among `known`, with the closest one suggested."""
    names = sorted(known)
    close = get_close_matches(str(name), names, n=1)  # a settings file may give a number
    hint = f" Did you mean {close[0]!r}?" if close else ""
    return UnknownNameError(f"no {kind} {name!r}.{hint} Known: {', '.join(names)}.")
