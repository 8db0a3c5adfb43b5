"""A folder into which images come: each is given out once it has stopped growing."""

import os
from collections.abc import Collection
from pathlib import Path

from ..errors import UsageError
from ..files import walk_images
from ..images.photo import image_endings

Stamp = tuple[int, int]
"""A file's size and time of change."""


class Watcher:
    """The images anywhere below a folder, those that are there at first among them.

    A file is ready when it is not empty and two looks in a row found it the same. Names that start with a dot do not
    count: programs that copy use them for what is not whole.

    Args:
        folder: The folder.
        leave_out: Folders in which nothing is looked for, such as one that is written to.
    """

    def __init__(self, folder: str, *, leave_out: Collection[Path] = ()) -> None:
        if not os.path.isdir(folder):  # noqa: PTH112 - the path is text, with whatever is in it
            raise UsageError(f"--watch {folder} is no folder; make it first.")
        self._folder = folder
        self._given: set[str] = set()
        self._left_out = [os.path.join(os.path.realpath(path), "") for path in leave_out]  # noqa: PTH118
        self._seen: dict[str, Stamp] = {}
        self._failed: dict[str, Stamp] = {}

    def leave(self, paths: Collection[str]) -> None:
        """Never give out these."""
        self._given.update(paths)

    def look(self) -> list[str]:
        """The images that have become ready since the last look, sorted."""
        ready, seen = [], {}
        for path in walk_images(self._folder, endings=image_endings(), hidden=False):
            if path in self._given or self._is_left_out(path):
                continue
            stamp = _stamp(path)
            if stamp is None:
                continue
            seen[path] = stamp
            if self._seen.get(path) == stamp and self._failed.get(path) != stamp:
                ready.append(path)
        self._seen = seen
        self._given.update(ready)
        return sorted(ready)

    def failed(self, path: str) -> None:
        """Give the image out once more if it changes: a copy may have paused for longer than between two looks."""
        if path in self._seen:
            self._failed[path] = self._seen[path]
            self._given.discard(path)

    def _is_left_out(self, path: str) -> bool:
        return bool(self._left_out) and os.path.realpath(path).startswith(tuple(self._left_out))


def _stamp(path: str) -> Stamp | None:
    """The size and time of a file; None for one that is empty, gone, or no file."""
    try:
        stat = os.stat(path)  # noqa: PTH116
    except OSError:
        return None
    return (stat.st_size, stat.st_mtime_ns) if stat.st_size and os.path.isfile(path) else None  # noqa: PTH113
