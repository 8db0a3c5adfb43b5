"""Files of labels."""

from pathlib import Path

from ..errors import UsageError


def read_labels(path: Path) -> list[str]:
    """The labels of a text file in UTF-8, one a line; empty lines count for nothing."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UsageError(f"cannot read the labels file {path}: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"the labels file {path} is not UTF-8 text: {error}.") from error
    return [label for line in text.splitlines() if (label := line.strip())]
