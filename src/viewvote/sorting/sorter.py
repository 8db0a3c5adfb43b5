"""Answers into folders: each image gets a name that nothing else has, then is copied or moved there."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import ImageError, UsageError
from .folders import same, unused
from .log import NAME, Contents, Entry, Log, read_log
from .transfer import PART, bring

MADE = "."
"""Stands for the sorted folder itself among the folders that were made."""


class Sorter:
    """Puts images into folders below `destination`; with `dry_run` it only finds their names.

    The same images in the same order get the same names, however often the process died in between: what is planned is
    in the log before it is done, and what an earlier process planned is finished first.
    """

    def __init__(self, destination: Path, *, move: bool, settings: Mapping[str, Any], dry_run: bool = False) -> None:
        self.destination = destination
        self.log_path = destination / NAME
        self._move = move
        self._names: dict[str, set[str]] = {}
        self._log: Log | None = None
        known = read_log(self.log_path)
        settings = {**settings, "move": move}
        if known is not None:
            _check_same(known.settings, settings, self.log_path)
        self._earlier = {} if known is None else {entry.source: entry for entry in known.entries}
        self._targets = frozenset(_absolute(destination / entry.target) for entry in self._earlier_entries(known))
        for entry in self._earlier_entries(known):
            folder, name = entry.target.split("/", 1)
            self._taken(folder).add(same(name))
        if not dry_run:
            self._start(known, settings)

    def left(self, paths: Sequence[str]) -> list[str]:
        """The images that are still to be sorted: none that lies sorted already, and no copy twice."""
        return [path for path in paths if not self._is_sorted(path)]

    def put(self, path: str, *, folder: str, label: str, probability: float) -> str:
        """Bring an image into a folder; returns its new path below the destination.

        One that is there by itself stays. Raises ImageError where the file cannot be copied or moved.
        """
        if _absolute(Path(path).parent) == _absolute(self.destination / folder):
            return f"{folder}/{Path(path).name}"
        try:
            stat = os.stat(path, follow_symlinks=True)  # noqa: PTH116 - the path is text, with whatever is in it
            if self._move and os.path.islink(path):  # noqa: PTH114
                raise ImageError(f"{path} is a link and is not moved; leave --move out to copy what it links to.")
            while True:
                entry = Entry(
                    source=_absolute(Path(path)),
                    target=f"{folder}/{self._free_name(folder, Path(path).name)}",
                    label=label,
                    probability=round(probability, 4),
                    size=stat.st_size,
                    mtime_ns=stat.st_mtime_ns,
                )
                if self._log is None:
                    return entry.target
                self._make(folder)
                self._log.plan(entry)
                try:
                    self._finish(entry)
                except FileExistsError:  # it came between; the next name then
                    continue
                return entry.target
        except OSError as error:
            verb = "move" if self._move else "copy"
            raise ImageError(f"cannot {verb} {path} into {self.destination / folder}: {error.strerror}.") from error

    def close(self) -> None:
        """Close the log."""
        if self._log is not None:
            self._log.close()

    def _start(self, known: Contents | None, settings: Mapping[str, Any]) -> None:
        """Open the log, and finish what an earlier process has planned."""
        new = not self.destination.exists()
        try:
            self.destination.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"cannot make {self.destination}: {error.strerror or error}.") from error
        self._log = Log(self.log_path, settings)
        if new:
            self._log.folder(MADE)
        self._folders = set(known.folders) if known else set()
        for entry in known.open_entries if known else ():
            if os.path.lexists(entry.source) or os.path.lexists(self.destination / entry.target):
                (self.destination / entry.target).parent.mkdir(exist_ok=True)
                try:
                    self._finish(entry)
                except FileExistsError:  # another file has the name now; the image is planned anew when its turn comes
                    self._earlier.pop(entry.source, None)

    def _finish(self, entry: Entry) -> None:
        bring(Path(entry.source), self.destination / entry.target, move=self._move)
        if self._log is not None:
            self._log.done(entry)

    def _make(self, folder: str) -> None:
        """Make a folder that is missing, and note it before, so that undoing removes it."""
        path = self.destination / folder
        if not path.is_dir() and self._log is not None:
            if folder not in self._folders:
                self._log.folder(folder)
                self._folders.add(folder)
            path.mkdir(exist_ok=True)

    def _free_name(self, folder: str, name: str) -> str:
        stem, ending = os.path.splitext(name)  # noqa: PTH122 - of a name
        return unused(stem, self._taken(folder), ending=ending)

    def _taken(self, folder: str) -> set[str]:
        """The names that a folder has, on the disk or planned."""
        if folder not in self._names:
            path = self.destination / folder
            present = os.listdir(path) if path.is_dir() else []  # noqa: PTH208 - names alone
            self._names[folder] = {same(name) for name in present if name != PART}
        return self._names[folder]

    def _is_sorted(self, path: str) -> bool:
        absolute = _absolute(Path(path))
        if absolute in self._targets:
            return True
        entry = self._earlier.get(absolute)
        if entry is None:
            return False
        if self._move:  # gone: just now, to finish what was planned; there again: another image
            return not os.path.lexists(path)
        try:
            stat = os.stat(path)  # noqa: PTH116
        except OSError:  # it is reported when its turn comes
            return False
        return (stat.st_size, stat.st_mtime_ns) == (entry.size, entry.mtime_ns)

    @staticmethod
    def _earlier_entries(known: Contents | None) -> Sequence[Entry]:
        return () if known is None else known.entries


def _check_same(before: Mapping[str, Any], now: Mapping[str, Any], log: Path) -> None:
    """Raise UsageError where the folder was sorted by another question."""
    other = [name for name in {**before, **now} if before.get(name) != now.get(name)]
    if other:
        raise UsageError(
            f"{log.parent} was sorted with other {', '.join(other)}. Give the same options to go on, undo it with "
            f"`viewvote sort --undo {log}`, or choose another folder."
        )


def _absolute(path: Path) -> str:
    return os.path.abspath(path)  # noqa: PTH100 - Path.resolve would follow links
