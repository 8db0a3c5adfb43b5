"""Files of labels: lines of text, tables, JSON."""

from pathlib import Path

from ..errors import UsageError
from ..reading import read_bytes
from . import formats
from .texts import Labels

MOST_BYTES = 50_000_000
"""CuPL's texts of ImageNet's thousand classes are 4 MB."""

TABLES = (".csv", ".tsv")
JSON_LINES = (".jsonl", ".ndjson")
_JSON_STARTS = ("{", '["', "[{")
_SHOWN_LINES, _SHOWN_CHARACTERS = 3, 60


def read_labels(path: Path, *, column: str | None = None) -> Labels:
    """The labels in a file: a list, or a mapping from label to texts.

    `.csv` and `.tsv` are tables, `.json` a list or a mapping, `.jsonl` a label or an object a line; anything else is
    text with a label a line, where empty lines and lines that start with # count for nothing. UsageError shows the
    first lines of a file that cannot be labels.

    Args:
        path: The file.
        column: Of a table or of JSON objects the label's column, by its name, or of a table by its number from 1.
    """
    data = _read(path)
    text = _decoded(data, path)
    kind = path.suffix.lower()
    try:
        if kind in TABLES:
            return formats.from_table(text, column=column)
        if kind in JSON_LINES:
            return formats.from_json_lines(text, column=column)
        if kind == ".json" or text.lstrip().startswith(_JSON_STARTS):
            return formats.from_json(text, column=column)
        if column is not None:
            raise UsageError(f"--labels-column names a column of a table or of JSON; {path} is text, a label a line.")
        return formats.from_text(text)
    except formats.NotLabelsError as error:
        raise UsageError(f"{path} cannot be labels: {error}. {_beginning(text)}") from error


def _read(path: Path) -> bytes:
    return read_bytes(path, error=UsageError, what="the labels file", limit=MOST_BYTES)


def _decoded(data: bytes, path: Path) -> str:
    """The text, as UTF-8 or with the mark of UTF-16 that spreadsheets write."""
    encoding = "utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        seen = _beginning(data[:1000].decode("latin-1"))
        raise UsageError(f"the labels file {path} is not UTF-8 text: {error.reason}. {seen}") from error
    if "\0" in text:
        raise UsageError(f"the labels file {path} is not text: it has a zero byte. {_beginning(text)}")
    return text


def _beginning(text: str) -> str:
    """The first lines, for a message of one line."""
    lines = formats.lines_of(text[: 1000 * _SHOWN_LINES])[:_SHOWN_LINES]
    if not lines:
        return "It is empty."
    shown = [line if len(line) <= _SHOWN_CHARACTERS else line[: _SHOWN_CHARACTERS - 3] + "..." for line in lines]
    return f"It starts with {' / '.join(map(repr, shown))}."
