"""The table reader: a CSV or JSONL file with a path and a label on each line."""

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePath
from typing import Any

from ...errors import DatasetError
from ...fields import is_text, is_whole
from ...images.failures import shown
from ...reading import parse_json
from ..base import PHOTO, ImageFiles
from ..classes import ClassList, listed, name_notes
from .splits import csv_rows, read_list

SUFFIXES = (".csv", ".jsonl")


def read_table(
    table: Path, *, classes: ClassList | None = None, templates: Sequence[str] = PHOTO, card: str | None = None
) -> ImageFiles:
    """The images that a table lists, sorted by path; relative paths start at the table's own folder.

    A label is a class name, or with `classes` anything that names one of them; without, the classes are the labels in
    alphabetical order.
    """
    rows = _unique(table, csv_rows(table) if table.suffix.lower() == ".csv" else _jsonl_rows(table))
    words = sorted(set(rows.values()))
    labels, own = label_words(words, classes, where=str(table))
    keys = tuple(sorted(rows))
    problems = tuple(_missing(table.parent, keys))
    return ImageFiles(
        name=table.stem,
        folder=table.parent,
        keys=keys,
        targets=tuple(labels[rows[key]] for key in keys),
        class_names=own.names,
        templates=tuple(templates),
        card=card,
        problems=problems,
        notes=(*problems, *name_notes(own.names)),
    )


def label_words(words: Sequence[str], classes: ClassList | None, *, where: str) -> tuple[dict[str, int], ClassList]:
    """Each label word's class, and the classes: those given, or the words themselves."""
    if classes is None:
        if all(word.isdecimal() for word in words):
            raise DatasetError(f"the labels of {where} are numbers; say what they mean with classes (--classes).")
        return {word: i for i, word in enumerate(words)}, ClassList(tuple(word.replace("_", " ") for word in words))
    found = {word: classes.index_of(word) for word in words}
    strange = [word for word, label in found.items() if label is None]
    if strange:
        raise DatasetError(f"labels of {where} are none of the {len(classes.names)} classes: {listed(strange)}.")
    return {word: label for word, label in found.items() if label is not None}, classes


def _jsonl_rows(table: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(read_list(table).split("\n"), start=1):  # splitlines would split at U+2028 too
        if line.strip():
            row = parse_json(line, source=f"line {number} of {table}", error=DatasetError)
            yield number, row if isinstance(row, dict) else {}


def _unique(table: Path, rows: Iterable[tuple[int, dict[str, Any]]]) -> dict[str, str]:
    """Path -> label word. Two lines on one image would be one sample with two answers."""
    found: dict[str, str] = {}
    for number, row in rows:
        path, label = row.get("path"), row.get("label")
        if not isinstance(path, str) or not path or not _is_label(label):
            raise DatasetError(
                f"line {number} of {table} has no path and label; its columns: {listed([*map(str, row)])}."
            )
        key = PurePath(path).as_posix()
        if key in found:
            raise DatasetError(f"line {number} of {table} lists {path} a second time; keep one line per image.")
        found[key] = str(label)
    if not found:
        raise DatasetError(f"{table} lists no images; expected columns path and label and a line for each image.")
    return found


def _is_label(value: object) -> bool:
    """Whether this can name a class: a text that can be written, or a number."""
    return is_whole(value) or (is_text(value) and value != "")


def _missing(folder: Path, keys: Sequence[str]) -> list[str]:
    missing = [shown(key) for key in keys if not os.path.isfile(folder / key)]  # noqa: PTH113 - Path.is_file may raise
    return [f"{len(missing):,} of the {len(keys):,} images are missing: {listed(missing)}."] if missing else []
