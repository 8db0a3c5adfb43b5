"""Tables of paths or addresses: CSV with a header line, or an object of JSON on each line."""

import csv
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, BinaryIO

from ..errors import DatasetError, UsageError
from .address import is_address
from .files import Entry
from .remote import open_binary

LINE_BYTES = 1_000_000
PATH_COLUMNS = ("path", "url", "image", "file_name")
"""Where the path is looked for unless a column is named: the first of these that a table has."""


def table_entries(table: str, *, path_column: str | None, keep: Sequence[str]) -> Iterator[Entry]:
    """The images that a table lists, read line by line; a line that names none is an entry with the reason.

    Relative paths start at the table's folder. Where the table cannot be read on, a last entry has the reason.
    """
    try:
        with open_binary(table) as stream:
            for number, row in _rows(stream, table):
                yield row if isinstance(row, Entry) else _entry(table, number, row, path_column, keep)
    except (OSError, DatasetError, csv.Error) as error:
        yield Entry(table, error=f"cannot read on in {table}: {_reason(error)}. What follows is not read.")


def check_table(table: str, *, path_column: str | None, keep: Sequence[str]) -> None:
    """Raise UsageError where the first row lacks the columns that are asked for."""
    try:
        with open_binary(table) as stream:
            first = next((row for _, row in _rows(stream, table) if not isinstance(row, Entry)), None)
    except (OSError, DatasetError, csv.Error) as error:
        raise UsageError(f"cannot read the table {table}: {_reason(error)}.") from error
    if first is None:
        raise UsageError(f"{table} lists nothing; expected a line for each image.")
    if path_column is None and not any(name in first for name in PATH_COLUMNS):
        raise UsageError(
            f"{table} has none of the columns {', '.join(PATH_COLUMNS)}; name one of its own with --path-column: "
            f"{_listed(first)}."
        )
    for column in [path_column, *keep]:
        if column is not None and column not in first:
            raise UsageError(f"{table} has no column {column!r}; it has {_listed(first)}.")


def _rows(stream: BinaryIO, table: str) -> Iterator[tuple[int, Mapping[str, Any] | Entry]]:
    """Line numbers and rows; a row that is damaged alone is an Entry with its error."""
    lines = _lines(stream)
    if table.lower().endswith(".csv"):
        reader = csv.DictReader(lines)
        yield from ((reader.line_num, row) for row in reader)
        return
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            yield number, Entry(f"{table}#{number}", error=f"line {number} of {table} is not JSON: {error}.")
            continue
        if isinstance(row, dict):
            yield number, row
        else:
            yield number, Entry(f"{table}#{number}", error=f"line {number} of {table} is no JSON object.")


def _lines(stream: BinaryIO) -> Iterator[str]:
    """The lines; of one without an end no more is read than shows that."""
    first = True
    while line := stream.readline(LINE_BYTES):
        if len(line) == LINE_BYTES and not line.endswith(b"\n"):
            raise DatasetError(f"a line of more than {LINE_BYTES:,} bytes")
        yield line.removeprefix(b"\xef\xbb\xbf" if first else b"").decode("utf-8", "surrogateescape")
        first = False


def _entry(table: str, number: int, row: Mapping[str, Any], path_column: str | None, keep: Sequence[str]) -> Entry:
    column = path_column or next((name for name in PATH_COLUMNS if name in row), None)
    value = row.get(column) if column is not None else None
    kept = {name: row.get(name) for name in keep}
    if not isinstance(value, str) or not value:
        return Entry(f"{table}#{number}", kept, error=f"line {number} of {table} has no {column or 'path'}.")
    place = resolve(value, table=table)
    if place is None:
        problem = f"line {number} of {table} names a file of this machine, {value}: a table of a store may not."
        return Entry(f"{table}#{number}", kept, error=problem)
    return Entry(place, kept)


def resolve(value: str, *, table: str) -> str | None:
    """The place that a table means by a value; None where a store's table means a file of this machine."""
    if is_address(value):
        return None if is_address(table) and value.lower().startswith(("file:", "local:")) else value
    if is_address(table):
        return None if value.startswith(("/", "\\")) else f"{table.rpartition('/')[0]}/{value}"
    return os.path.join(os.path.dirname(table), value)  # noqa: PTH118, PTH120 - Path would change what is written


def _reason(error: Exception) -> str:
    return (getattr(error, "strerror", None) or str(error)).rstrip(".")


def _listed(row: Mapping[str, Any]) -> str:
    return ", ".join(map(str, row)) or "none"
