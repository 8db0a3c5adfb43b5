"""Registries map public names to `"module:attribute"` and import it only when asked for."""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.util import find_spec
from typing import Generic, TypeVar

from .errors import UnknownNameError, UsageError, ViewvoteError
from .plugins import advertised, imported, load_named_plugins

T = TypeVar("T")
logger = logging.getLogger("viewvote")


@dataclass(frozen=True)
class Entry:
    """Where a name is implemented, one line about it, and what it needs.

    target   "module:attribute"; empty for an object that was registered
    extra    the extra of viewvote that must be installed
    module   a module that is there where the extra is; None is the extra's name
    package  the package that brings it; None for viewvote's own and for what was registered
    """

    target: str
    summary: str
    extra: str | None = None
    module: str | None = None
    package: str | None = None

    @property
    def is_installed(self) -> bool:
        """Whether its extra is there."""
        return self.extra is None or find_spec(self.module or self.extra) is not None


class Registry(Generic[T]):
    """The names of one kind; installed packages are searched when a name is unknown or the names are listed.

    kind   the word that errors use ("method", "model scheme", ...)
    group  the entry points that add names
    check  raises UsageError for an object of a plugin (name, object) that is not of this kind
    """

    def __init__(
        self,
        kind: str,
        entries: Mapping[str, Entry],
        *,
        group: str | None = None,
        check: Callable[[str, object], None] | None = None,
    ) -> None:
        self.kind = kind
        self._group = group
        self._check = check
        self._searched = group is None
        self._entries = dict(entries)
        self._objects: dict[str, T] = {}

    def __iter__(self) -> Iterator[str]:
        self._search()
        return iter(sorted(self._entries))

    def __contains__(self, name: object) -> bool:
        if name not in self._entries:
            self._search()
        return name in self._entries

    def entry(self, name: str) -> Entry:
        """The entry of `name`, or an error that suggests what was meant."""
        if name not in self:
            raise unknown_name(self.kind, name, self)
        return self._entries[name]

    def get(self, name: str) -> T:
        """The object behind `name`, imported on first use."""
        if name not in self._objects:
            entry = self.entry(name)
            if name not in self._objects:  # the search for the name may have registered it
                self._objects[name] = self._import(name, entry)
        return self._objects[name]

    def register(self, name: str, obj: T, *, summary: str | None = None) -> None:
        """Add a name of your own; the same class or function may be registered again, as when a notebook is rerun.

        Args:
            name: The public name; one that something else has raises UsageError.
            obj: What the name stands for.
            summary: One line for listings; None is the first line of its docstring.
        """
        if not isinstance(name, str) or not name or name != name.strip() or ":" in name:
            raise UsageError(f"{self.kind} {name!r} has no name to call it by; expected a word without a colon.")
        if name in self and not (name in self._objects and _same_source(self._objects[name], obj)):
            raise UsageError(f"{self.kind} {name!r} exists already; choose another name.")
        if self._check is not None:
            self._check(name, obj)
        self._entries[name] = Entry(target="", summary=_first_line(obj) if summary is None else summary)
        self._objects[name] = obj

    def _search(self) -> None:
        """Add what plugins bring, once; nothing of a package is imported."""
        if self._searched or self._group is None:
            return
        self._searched = True  # first, because a plugin asks for names too
        for found in advertised(self._group):
            if found.name in self._entries:
                logger.warning(
                    "the package %s brings a %s %r, which exists already; it is left out",
                    found.package,
                    self.kind,
                    found.name,
                )
            else:
                self._entries[found.name] = Entry(found.target, found.summary, package=found.package)
        load_named_plugins()

    def _import(self, name: str, entry: Entry) -> T:
        try:
            obj: T = imported(entry.target)
        except Exception as error:
            if entry.package is None or isinstance(error, ViewvoteError):
                raise
            raise UsageError(
                f"{self.kind} {name!r} of the package {entry.package} cannot be imported from {entry.target}: "
                f"{type(error).__name__}: {error}"
            ) from error
        if entry.package is not None and self._check is not None:
            self._check(name, obj)
        return obj


def unknown_name(kind: str, name: str, known: Iterable[str], *, of: str | None = None) -> UnknownNameError:
    """The error for a name that is not among `known`, those `of` something, with the closest one suggested."""
    names = sorted(known)
    close = get_close_matches(str(name), names, n=1)  # a settings file may give a number
    hint = f" Did you mean {close[0]!r}?" if close else ""
    lacking = f"no {kind}" if of is None else f"{of} has no {kind}"
    return UnknownNameError(f"{lacking} {name!r}.{hint} Known: {', '.join(names)}.")


def _same_source(one: object, other: object) -> bool:
    """Whether both are the class or function of one name in one module."""
    names = [tuple(getattr(obj, name, None) for name in ("__module__", "__qualname__")) for obj in (one, other)]
    return names[0] == names[1] and None not in names[0]


def _first_line(obj: object) -> str:
    lines = (obj.__doc__ or "").strip().splitlines()
    return lines[0] if lines else ""
