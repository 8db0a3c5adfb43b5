"""What a folder holds besides images, counted by kind."""

import os
import stat
from collections import Counter
from pathlib import PurePath

from ..images.extras import missing_extras

SHOWN = 6
"""Kinds that are named; the rarer ones are counted together."""


class Skipped:
    """The files that were left out, by kind: an ending, "broken links", "no files" (pipes, sockets)."""

    def __init__(self) -> None:
        self.kinds: Counter[str] = Counter()

    def add(self, path: str) -> None:
        """Count a file; names that start with a dot are the system's and count for nothing."""
        name = PurePath(path).name
        if not name.startswith("."):
            self.kinds[_kind(path)] += 1

    def __bool__(self) -> bool:
        return bool(self.kinds)

    def __str__(self) -> str:
        ordered = sorted(self.kinds.items(), key=lambda item: (-item[1], item[0]))
        shown = [f"{kind} {n}" for kind, n in ordered[:SHOWN]]
        if rest := sum(n for _, n in ordered[SHOWN:]):
            shown.append(f"others {rest}")
        total = self.kinds.total()
        skipped = f"{total} file{'s' if total > 1 else ''} skipped: {', '.join(shown)}."
        return " ".join([skipped, *(extra.advice for extra in missing_extras(self.kinds))])


def _kind(path: str) -> str:
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116 - the path is text, with whatever is in it
    except OSError:
        return "broken links" if os.path.islink(path) else "vanished"  # noqa: PTH114
    if not stat.S_ISREG(mode):
        return "no files"
    return PurePath(path).suffix.lower() or "without ending"
