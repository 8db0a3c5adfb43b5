"""The format of a file that is written: that of its ending, unless --format is given, which must agree."""

from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

from ..errors import UsageError

F = TypeVar("F", bound=str)


def format_of(asked: F | None, output: Path | None, *, endings: Mapping[str, F], default: F) -> F:
    """The format to write; an ending that belongs to another one than --format is a UsageError.

    Args:
        asked: The value of --format.
        output: The file; None is standard output.
        endings: What endings mean, in small letters with the dot. Others mean nothing.
        default: The format where neither decides.
    """
    meant = None if output is None else endings.get(output.suffix.lower())
    if asked is not None and meant is not None and asked != meant:
        raise UsageError(
            f"--output {output} is {meant} by its ending, and --format asks for {asked}. Leave --format out, or rename "
            "the file."
        )
    return asked or meant or default
