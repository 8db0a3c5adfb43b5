"""What an earlier file of predictions holds already, and whether it answers the same question."""

import csv
import io
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from ..fields import TABLE, Fields, Kind, or_null, whole
from ..reading import open_regular, reason

if TYPE_CHECKING:
    from ..classify.classifier import Classifier

MOST_OF_A_CELL = 2**31 - 1
"""Characters; the csv module's own limit, 131,072, is less than the scores of some thousand labels."""


def done_before(path: Path, fmt: str, *, columns: list[str], top: int | None, classifier: "Classifier") -> set[str]:
    """The images that the file has predictions of, `as_written`; a cut-off last row is dropped from it.

    Rows that `classifier` would not have written (of other labels, another model, method or number of views) are an
    error: one file must not mix the answers to two questions.
    """
    done: set[str] = set()
    try:
        with open_regular(path) as file:
            data = file.read()
        end = _whole_rows(data, quoted=fmt == "csv")
        for row in _rows(data[:end].decode("utf-8"), fmt, columns):
            if (other := _difference(row, classifier, top=top)) is not None:
                raise UsageError(f"{path} was written with {other}. Give the same options, or another --output.")
            done.add(as_written(row["path"] or ""))
        if end < len(data):
            os.truncate(path, end)
    except OSError as error:
        raise UsageError(f"cannot continue {path}: {reason(error)}.") from error
    except (ValueError, csv.Error, RecursionError) as error:
        if isinstance(error, UsageError):
            raise
        raise UsageError(f"{path} is not a {fmt} file of predictions ({error}); nothing was changed.") from error
    return done


def as_written(path: str) -> str:
    """The path as a file of predictions has it: bytes that are no UTF-8 are written as escapes."""
    return path.encode("utf-8", "backslashreplace").decode("utf-8")


def _whole_rows(data: bytes, *, quoted: bool) -> int:
    """Where the last whole row ends; with `quoted`, line breaks inside quotes, whose number is then odd, end none."""
    end = data.rfind(b"\n") + 1
    while quoted and end and data.count(b'"', 0, end) % 2:
        end = data.rfind(b"\n", 0, end - 1) + 1
    return end


def _rows(text: str, fmt: str, columns: list[str]) -> Iterator[dict[str, Any]]:
    """The rows of the file under the keys of `Prediction.to_dict`, each checked."""
    if fmt == "jsonl":
        for number, line in enumerate(text.split("\n")[:-1], 1):  # splitlines would split at U+2028 too
            yield _checked(json.loads(line), number)
        return
    before = csv.field_size_limit(MOST_OF_A_CELL)  # of the whole process: the scores of a thousand labels are long
    try:
        reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
        if text and reader.fieldnames != columns:
            raise ValueError(f"its columns are {reader.fieldnames}")
        for row in reader:
            numbers = {key: _number(row[key]) for key in ("index", "views_used")}
            yield _checked(
                {**row, **numbers, "label": row["label"] or None, "scores": json.loads(row["scores"] or "")},
                reader.line_num,
            )
    finally:
        csv.field_size_limit(before)


def _number(text: str | None) -> int | str | None:
    """The number that a cell holds, or what else it holds."""
    return int(text) if text and text.isdecimal() and len(text) < 10 else text


def _checked(row: object, number: int) -> dict[str, Any]:
    """The row, if its values are such as predictions have."""
    try:
        read = Fields(row, f"row {number}", error=UsageError)
        return {key: read(key, kind) for key, kind in _KINDS.items()}
    except UsageError as error:
        raise ValueError(str(error).removesuffix(".")) from None


_ANY_TEXT: Kind[str] = Kind("a text", lambda value: isinstance(value, str))  # a file name may be any bytes
_KINDS: dict[str, Kind[Any]] = {
    "path": or_null(_ANY_TEXT),
    "label": or_null(_ANY_TEXT),
    "index": whole(0),
    "scores": TABLE,
    "views_used": whole(0),
    "method": _ANY_TEXT,
    "model": _ANY_TEXT,
}


def _difference(row: dict[str, Any], classifier: "Classifier", *, top: int | None) -> str | None:
    """What `classifier` would have written otherwise in this row, in words; None where it might be its own."""
    from ..prediction import label_keys

    names = label_keys(classifier.labels)
    index, label, scores = row["index"], row["label"], row["scores"]
    if index >= len(names) or label not in (None, classifier.labels[index]) or not set(scores) <= set(names):
        return "other labels"
    if len(scores) != len(names[:top]):
        return f"{len(scores)} scores a row: other labels, or another --top"
    models = [encoder.model_id for encoder in (classifier.encoder, classifier.teacher) if encoder is not None]
    expected: dict[str, object] = {"method": classifier.method.name, "model": " -> ".join(models)}
    if classifier.rule is None:  # with one, images differ in it
        expected["views_used"] = classifier.method.views_used(classifier.n_views)
    wrong = [key for key, value in expected.items() if row[key] != value]
    return f"{wrong[0]} {row[wrong[0]]!r}" if wrong else None
