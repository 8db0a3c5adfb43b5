"""What an earlier file of predictions holds already, and whether it answers the same question."""

import csv
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from ..fields import TABLE, Fields, Kind, or_null, whole
from ..files import write_whole
from ..reading import open_regular, reason
from . import flat_csv

if TYPE_CHECKING:
    from ..classify.classifier import Classifier


def done_before(path: Path, fmt: str, *, top: int | None, classifier: "Classifier") -> set[str]:
    """The images that the file has predictions of, `as_written`.

    A cut-off last line is dropped from the file, and rows of errors too.

    So images that failed are tried again. Rows that `classifier` would not have written (of other labels, another
    model, method or number of views) are an error: one file must not mix the answers to two questions.
    """
    try:
        with open_regular(path) as file:
            data = file.read()
        whole_rows = flat_csv.whole_rows(data) if fmt == "csv" else data[: data.rfind(b"\n") + 1]
        rows, kept = _rows(whole_rows, fmt, top, classifier)
        other = next((found for row in rows if (found := _difference(row, classifier, top=top))), None)
        done = {as_written(row["path"] or "") for row in rows}
        if other is None and kept != whole_rows:
            write_whole(path, kept)
        elif other is None and len(whole_rows) < len(data):
            os.truncate(path, len(whole_rows))
    except OSError as error:
        raise UsageError(f"cannot continue {path}: {reason(error)}.") from error
    except (ValueError, KeyError, TypeError, IndexError, RecursionError, csv.Error) as error:
        raise UsageError(f"{path} is not a {fmt} file of predictions ({error}); nothing was changed.") from error
    if other is not None:
        raise UsageError(f"{path} was written with {other}. Give the same options, or another --output.")
    return done


def as_written(path: str) -> str:
    """The path as a file of predictions has it: bytes that are no UTF-8 are written as escapes."""
    return path.encode("utf-8", "backslashreplace").decode("utf-8")


def _rows(data: bytes, fmt: str, top: int | None, classifier: "Classifier") -> tuple[list[dict[str, Any]], bytes]:
    """The answers in the file under the keys of `Prediction.to_dict`, and the file without its errors."""
    text = data.decode("utf-8")
    if fmt == "jsonl":  # splitlines would split at U+2028 too
        return [_checked(json.loads(line), n) for n, line in enumerate(text.split("\n")[:-1], 1)], data
    shown = top or 0
    rows = flat_csv.read_rows(text, top=shown)
    answers = [row for row in rows if not row["error"]]
    if len(answers) < len(rows):
        lines = [flat_csv.columns(shown), *(list(row.values()) for row in answers)]
        data = "".join(f"{flat_csv.line(cells)}\n" for cells in lines).encode()
    return [_checked(_answer(row, classifier, top=shown), n) for n, row in enumerate(answers, 1)], data


def _answer(row: dict[str, Any], classifier: "Classifier", *, top: int) -> dict[str, Any]:
    """A row of the table under the keys of `Prediction.to_dict`; the best guess is one of the labels with scores."""
    index = int(row["index"])
    best = row["label"] or _labels(classifier)[index]
    scores = dict.fromkeys([best, *flat_csv.labels_of(row, top=top)])
    return {
        **row,
        "index": index,
        "views_used": int(row["views_used"]),
        "label": row["label"] or None,
        "scores": scores,
    }


def _checked(row: object, number: int) -> dict[str, Any]:
    """The row, if its values are such as predictions have."""
    try:
        read = Fields(row, f"row {number}", error=UsageError)
        return {**read.data, **{key: read(key, kind) for key, kind in _KINDS.items()}}
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

    labels = _labels(classifier)
    names = label_keys(labels)
    index, label, scores = row["index"], row["label"], row["scores"]
    if index >= len(names) or label not in (None, labels[index]) or not set(scores) <= set(names):
        return "other labels"
    if len(scores) != len(names[:top]):
        return f"{len(scores)} scores a row: other labels, or another --top"
    models = [encoder.model_id for encoder in (classifier.encoder, classifier.teacher) if encoder is not None]
    expected: dict[str, object] = {"method": classifier.method.name, "model": " -> ".join(models)}
    if classifier.rule is None:  # with one, images differ in it
        expected["views_used"] = classifier.method.views_used(classifier.n_views)
    if "timings" in row:  # of a csv only the columns are there
        context = None if classifier.context is None else classifier.context.digest
        if (there := (row.get("context") or {}).get("digest")) != context:
            return f"another context ({there}, not {context})"
    wrong = [key for key, value in expected.items() if row[key] != value]
    return f"{wrong[0]} {row[wrong[0]]!r}" if wrong else None


def _labels(classifier: "Classifier") -> tuple[str, ...]:
    """All that can be answered: the labels, and "none of these" where it is asked."""
    return tuple(classifier.classes_.tolist())
