"""The log of a sorted folder: what was planned, then what was done, a line each, on the disk before the next step."""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TextIO

from ..errors import UsageError
from ..reading import open_regular

NAME = "viewvote-sort.jsonl"
VERSION = 1


@dataclass(frozen=True)
class Entry:
    """A file and its place: `target` below the sorted folder; size and time are the source's when it was planned."""

    source: str
    target: str
    label: str
    probability: float
    size: int
    mtime_ns: int


@dataclass(frozen=True)
class Contents:
    """What a log tells: how it was sorted, the entries in order, which are done, and which folders were made."""

    settings: Mapping[str, Any]
    entries: tuple[Entry, ...]
    done: frozenset[str]
    folders: tuple[str, ...]

    @property
    def open_entries(self) -> list[Entry]:
        """What was planned and not finished: at most one, unless the log is older than the files."""
        return [entry for entry in self.entries if entry.target not in self.done]


def read_log(path: Path) -> Contents | None:
    """The log's contents; None where there is none, or nothing in it. A last line that is cut off is left out."""
    try:
        with open_regular(path) as file:
            data = file.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}.") from error
    whole = data[: data.rfind(b"\n") + 1]
    if not whole:
        if data and not data.startswith(b'{"viewvote_sort"'[: len(data)]):
            raise UsageError(f"{path} is no log of `viewvote sort`; nothing was changed.")
        return None
    try:
        header, *rows = (json.loads(line) for line in whole.decode("utf-8").split("\n")[:-1])
        if header["viewvote_sort"] != VERSION:
            raise ValueError(f"its version is {header['viewvote_sort']}, not {VERSION}")
        return Contents(
            settings=dict(header["settings"]),
            entries=tuple(_checked(Entry(**row["plan"])) for row in rows if "plan" in row),
            done=frozenset(str(row["done"]) for row in rows if "done" in row),
            folders=tuple(_inside(row["folder"], parts=1) for row in rows if "folder" in row),
        )
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise UsageError(f"{path} is no log of `viewvote sort` ({error}); nothing was changed.") from error


def _checked(entry: Entry) -> Entry:
    """The entry; ValueError unless it is one that could have been written: undoing removes files by it."""
    if _inside(entry.target, parts=2) == ".":
        raise ValueError("its target is the sorted folder itself")
    if not isinstance(entry.source, str) or not os.path.isabs(entry.source):  # noqa: PTH117 - the path is text
        raise ValueError(f"its source {entry.source!r} is no full path")
    if not isinstance(entry.size, int) or not isinstance(entry.mtime_ns, int):
        raise ValueError(f"the size or time of {entry.target!r} is no number")
    return entry


def _inside(path: object, *, parts: int) -> str:
    """The path; ValueError unless it lies this many steps below the sorted folder, or is the folder itself (".")."""
    names = path.split("/") if isinstance(path, str) else []
    if path != "." and (len(names) != parts or any(name in ("", ".", "..") or os.sep in name for name in names)):
        raise ValueError(f"{path!r} does not lie in the sorted folder")
    return str(path)


class Log:
    """A log that is written: every line is on the disk when its method returns."""

    def __init__(self, path: Path, settings: Mapping[str, Any]) -> None:
        """Open the log, and start it where it is not there; a cut-off last line is removed."""
        known = read_log(path)
        if known is None:
            self._file = _opened(path, "w")
            self._put({"viewvote_sort": VERSION, "settings": dict(settings)})
        else:
            data = path.read_bytes()
            os.truncate(path, data.rfind(b"\n") + 1)
            self._file = _opened(path, "a")

    def plan(self, entry: Entry) -> None:
        """Note what is going to be done."""
        self._put({"plan": asdict(entry)})

    def done(self, entry: Entry) -> None:
        """Note that it is."""
        self._put({"done": entry.target})

    def folder(self, name: str) -> None:
        """Note that a folder is going to be made."""
        self._put({"folder": name})

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _put(self, row: Mapping[str, Any]) -> None:
        self._file.write(json.dumps(row) + "\n")
        self._file.flush()
        os.fsync(self._file.fileno())


def _opened(path: Path, mode: str) -> TextIO:
    try:
        return path.open(mode, encoding="utf-8", newline="\n")  # type: ignore[return-value]
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}.") from error
