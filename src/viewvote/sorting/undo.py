"""A sorted folder as it was before: copies removed, moved images back in their places."""

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ..errors import UsageError
from .log import Entry, read_log
from .sorter import MADE
from .transfer import PART, bring

COARSE_NS = 2_000_000_000
"""Some file systems keep times in steps of two seconds."""


@dataclass(frozen=True)
class Undone:
    """How many images are back (or their copies gone), and how many were left where they are."""

    restored: int
    kept: int


def undo(log: Path, *, report: Callable[[str], None]) -> Undone:
    """Undo what a log tells, the last first; then the log itself goes, unless something had to be left.

    Left, and reported, is a copy that was changed since, and a moved image whose old place has another file. An
    interrupted undoing is continued by another.
    """
    known = read_log(log)
    if known is None:
        raise UsageError(f"there is no log of `viewvote sort` at {log}.")
    folder, move = log.parent, bool(known.settings.get("move"))
    restored = kept = 0
    for entry in reversed(known.entries):
        target, source = folder / entry.target, Path(entry.source)
        try:
            if not os.path.lexists(target):
                continue
            if move:
                source.parent.mkdir(parents=True, exist_ok=True)
                bring(target, source, move=True)
            elif _unchanged(target, entry):
                target.unlink()
            else:
                raise FileExistsError
            restored += 1
        except FileExistsError:
            why = f"{source} is there again" if move else "it was changed"
            report(f"{target} is left where it is: {why}.")
            kept += 1
        except OSError as error:
            report(f"{target} is left where it is: {error.strerror or error}.")
            kept += 1
    for place in {(folder / entry.target).parent for entry in known.entries}:
        (place / PART).unlink(missing_ok=True)
    if kept == 0:
        log.unlink()
    for name in sorted(known.folders, key=lambda name: name == MADE):
        with suppress(OSError):  # something else is in it
            (folder / name).rmdir()
    return Undone(restored, kept)


def _unchanged(target: Path, entry: Entry) -> bool:
    stat = target.stat()
    return stat.st_size == entry.size and abs(stat.st_mtime_ns - entry.mtime_ns) < COARSE_NS
