"""What an earlier file of predictions holds already, and whether it answers the same question."""

import csv
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from ..files import write_whole
from . import flat_csv

if TYPE_CHECKING:
    from ..classify.classifier import Classifier


def done_before(path: Path, fmt: str, *, top: int | None, classifier: "Classifier") -> set[str]:
    """The images that the file has predictions of; a cut-off last line is dropped from it, and rows of errors too.

    So images that failed are tried again. Rows that `classifier` would not have written (of other labels, another
    model, method or number of views) are an error: one file must not mix the answers to two questions.
    """
    try:
        data = path.read_bytes()
        whole = flat_csv.whole_rows(data) if fmt == "csv" else data[: data.rfind(b"\n") + 1]
        rows, kept = _rows(whole, fmt, top, classifier)
        other = next((found for row in rows if (found := _difference(row, classifier, top=top))), None)
        done = {row["path"] for row in rows}
    except OSError as error:
        raise UsageError(f"cannot continue {path}: {error.strerror or error}.") from error
    except (ValueError, KeyError, TypeError, IndexError, csv.Error) as error:
        raise UsageError(f"{path} is not a {fmt} file of predictions ({error}); nothing was changed.") from error
    if other is not None:
        raise UsageError(f"{path} was written with {other}. Give the same options, or another --output.")
    if kept != whole:
        write_whole(path, kept)
    elif len(whole) < len(data):
        os.truncate(path, len(whole))
    return done


def _rows(data: bytes, fmt: str, top: int | None, classifier: "Classifier") -> tuple[list[dict[str, Any]], bytes]:
    """The answers in the file under the keys of `Prediction.to_dict`, and the file without its errors."""
    text = data.decode("utf-8")
    if fmt == "jsonl":
        return [json.loads(line) for line in text.split("\n")[:-1]], data  # splitlines would split at U+2028 too
    shown = top or 0
    rows = flat_csv.read_rows(text, top=shown)
    answers = [row for row in rows if not row["error"]]
    if len(answers) < len(rows):
        lines = [flat_csv.columns(shown), *(list(row.values()) for row in answers)]
        data = "".join(f"{flat_csv.line(cells)}\n" for cells in lines).encode()
    return [_answer(row, classifier, top=shown) for row in answers], data


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
