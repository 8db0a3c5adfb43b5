"""Labels in words, as a list or in one text."""

import csv
import io
from collections.abc import Sequence

from ..errors import UsageError


def split_labels(text: str) -> list[str]:
    """The labels of a text that separates them by commas; one with a comma in it stands in double quotes."""
    try:
        rows = [*csv.reader(io.StringIO(text, newline=""), skipinitialspace=True, strict=True)]
    except csv.Error as error:
        raise UsageError(
            f'labels {text!r} have a quotation mark without its other one; write "salt, pepper" in quotes, or put one '
            "label a line into a file."
        ) from error
    return [label for row in rows for part in row if (label := part.strip())]


def checked_labels(labels: Sequence[str], *, unique: bool = True) -> tuple[str, ...]:
    """The labels, or UsageError where one is empty, not text, or (with `unique`) given twice."""
    if isinstance(labels, str):
        meant = [label.strip() for label in labels.split(",")]
        raise UsageError(f"labels must be a list of strings; got the string {labels!r}. Did you mean {meant!r}?")
    found = tuple(labels)
    if not found:
        raise UsageError("there are no labels; give at least one, such as cat.")
    seen: set[str] = set()
    for i, label in enumerate(found):
        if not isinstance(label, str) or not label.strip():
            raise UsageError(f"label {i} is {label!r}; every label must be a string with something in it.")
        if has_half_characters(label):
            raise UsageError(f"label {i} is not text: {label!r} has half a character in it. Is it UTF-8?")
        if unique and label in seen:
            raise UsageError(f"label {label!r} is given twice; every label must be different.")
        seen.add(label)
    return found


def has_half_characters(text: str) -> bool:
    """Whether UTF-8 cannot write the text, nor a tokenizer read it: bytes of another encoding, say."""
    return any("\ud800" <= character <= "\udfff" for character in text)
