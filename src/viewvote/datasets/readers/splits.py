"""The test splits that lists of images define: CoOp's JSON, FGVC-Aircraft's text files, ZERO's tables for Cars."""

import csv
import io
import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from ...errors import DatasetError, DatasetNotFoundError
from ...reading import LIST_BYTES, parse_json, read_text
from ..classes import ClassList, plain

MEANT = "expected lists of [path, label, class name] under 'train', 'val' and 'test'"


@dataclass(frozen=True)
class Row:
    """One image of a split: its path below the image folder, and its label."""

    path: str
    label: int


def coop_rows(split: Path, classes: ClassList) -> list[Row]:
    """The test images of one of CoOp's split files, each label checked against the class names and the folders."""
    try:
        entries = parse_json(read_list(split), source=str(split), error=DatasetError)["test"]
        triples = [(str(path), int(label), str(name)) for path, label, name in entries]
    except (ValueError, TypeError, LookupError, OverflowError) as error:
        if isinstance(error, DatasetError):
            raise
        raise DatasetError(f"{split} is not one of CoOp's split files ({error}); {MEANT}.") from error
    for path, label, name in triples:
        _check_label(split, path, label, classes)
        if plain(name) != plain(classes.names[label]):
            raise DatasetError(
                f"{split} calls label {label} {name!r}, but it is {classes.names[label]!r}: the file is another split, "
                "or its labels are in another order. Take CoOp's own file."
            )
        named = classes.index_of(_class_in(path)) if "/" in path else None
        if named is not None and named != label:
            raise DatasetError(
                f"{split} labels {path} as {label} ({name}), but its folder is class {named} "
                f"({classes.names[named]}): the two are swapped. Take CoOp's own file."
            )
    return [Row(path, label) for path, label, _ in triples]


def aircraft_rows(split: Path, classes: ClassList) -> list[Row]:
    """The test images of FGVC-Aircraft: lines of "<image id> <variant>", labelled by the order of variants.txt."""
    variants = read_list(split.parent / "variants.txt").splitlines()
    if list(map(plain, variants)) != list(map(plain, classes.names)):
        raise DatasetError(
            f"{split.parent / 'variants.txt'} does not list the {len(classes.names)} variants in their order, "
            f"{classes.names[0]} first and {classes.names[-1]} last; take the file of the archive."
        )
    labels = {variant: i for i, variant in enumerate(variants)}
    rows = []
    for number, line in enumerate(read_list(split).splitlines(), start=1):
        image, _, variant = line.partition(" ")
        if variant not in labels:
            raise DatasetError(
                f"line {number} of {split} names no variant of variants.txt: {line!r}; expected '<image id> <variant>'."
            )
        rows.append(Row(f"{image}.jpg", labels[variant]))
    return rows


def table_rows(split: Path, classes: ClassList) -> list[Row]:
    """The test images of ZERO's tables: (filename, split) in the one, (filename, class_idx) in labels.csv beside it."""
    listed = csv_rows(split.parent / "labels.csv", columns=("filename", "class_idx"))
    labels = {line["filename"]: line["class_idx"] or "" for _, line in listed}
    rows = []
    for _, line in csv_rows(split, columns=("filename", "split")):
        if line["split"] != "test":
            continue
        path = line["filename"]
        if not _is_label(labels.get(path, "")):
            raise DatasetError(f"{split.parent / 'labels.csv'} has no label for {path}, which {split.name} lists.")
        _check_label(split, path, int(labels[path]), classes)
        rows.append(Row(path, int(labels[path])))
    return rows


def read_list(path: Path) -> str:
    """The text of a list of images, or an error that names where it is expected."""
    error = DatasetError if os.path.exists(path) else DatasetNotFoundError  # noqa: PTH110 - Path.exists may raise
    return read_text(path, error=error, limit=LIST_BYTES)


def csv_rows(path: Path, *, columns: Collection[str] = ()) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows of a CSV file that has these columns, each with the number of its last line."""
    reader = csv.DictReader(io.StringIO(read_list(path), newline=""), strict=True)
    try:
        if not set(columns) <= set(reader.fieldnames or ()):
            raise DatasetError(f"{path} has columns {reader.fieldnames}; expected {' and '.join(columns)}.")
        for row in reader:
            yield reader.line_num, row
    except csv.Error as error:
        raise DatasetError(f"line {reader.line_num} of {path} is not CSV: {error}.") from error


def _check_label(split: Path, path: str, label: int, classes: ClassList) -> None:
    if not 0 <= label < len(classes.names):
        raise DatasetError(f"{split} labels {path} as {label}; the {len(classes.names)} classes count from 0.")


def _is_label(text: str) -> bool:
    """Whether this is a number that can be a label: of few digits, for int() refuses thousands."""
    return text.isdecimal() and len(text) < 10


def _class_in(path: str) -> str:
    """The class that a path's folders name: SUN397 sorts by letter and then from the general to the special."""
    folders = PurePosixPath(path).parts[:-1]
    return " ".join(reversed(folders[1:] if len(folders[0]) == 1 else folders))
