"""Files of labels."""

from pathlib import Path

from ..errors import UsageError
from ..reading import read_text


def read_labels(path: Path) -> list[str]:
    """The labels of a text file in UTF-8, one a line; empty lines count for nothing."""
    text = read_text(path, error=UsageError, what="the labels file")
    return [label for line in text.splitlines() if (label := line.strip())]
