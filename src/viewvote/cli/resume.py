"""What an earlier file of predictions holds already, and whether it answers the same question."""

import csv
import io
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import UsageError

if TYPE_CHECKING:
    from ..classify.classifier import Classifier


def done_before(path: Path, fmt: str, *, columns: list[str], top: int | None, classifier: "Classifier") -> set[str]:
    """The images that the file has predictions of; a cut-off last line is dropped from it.

    Rows that `classifier` would not have written (of other labels, another model, method or number of views) are an
    error: one file must not mix the answers to two questions.
    """
    try:
        data = path.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        rows = list(_rows(whole.decode("utf-8"), fmt, columns))
        other = next((found for row in rows if (found := _difference(row, classifier, top=top))), None)
        done = {row["path"] for row in rows}
    except OSError as error:
        raise UsageError(f"cannot continue {path}: {error.strerror or error}.") from error
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{path} is not a {fmt} file of predictions ({error}); nothing was changed.") from error
    if other is not None:
        raise UsageError(f"{path} was written with {other}. Give the same options, or another --output.")
    if len(whole) < len(data):
        os.truncate(path, len(whole))
    return done


def _rows(text: str, fmt: str, columns: list[str]) -> Iterator[dict[str, Any]]:
    """The rows of the file under the keys of `Prediction.to_dict`."""
    if fmt == "jsonl":
        yield from (json.loads(line) for line in text.split("\n")[:-1])  # splitlines would split at U+2028 too
        return
    reader = csv.DictReader(io.StringIO(text, newline=""))
    if text and reader.fieldnames != columns:
        raise ValueError(f"its columns are {reader.fieldnames}")
    for row in reader:
        numbers = {"index": int(row["index"]), "views_used": int(row["views_used"])}
        yield {**row, **numbers, "label": row["label"] or None, "scores": json.loads(row["scores"])}


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
