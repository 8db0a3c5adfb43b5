"""Writers of predictions: each writes whole lines as results come, and can tell which images a file holds already."""

import csv
import io
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from ..errors import UsageError

if TYPE_CHECKING:
    from ..types import Prediction

FORMATS = ("table", "json", "jsonl", "csv")
RESUMABLE = ("jsonl", "csv")
_COLUMNS = ["path", "label", "index", "confidence", "tie_break", "method", "model", "scores"]


class Writer:
    """Writes predictions in one format to a stream; a line is written in one piece and flushed."""

    def __init__(self, stream: TextIO, fmt: str, *, top: int, trace: bool, width: int, fresh: bool = True) -> None:
        self._stream = stream
        self._format = fmt
        self._top = top
        self._trace = trace
        self._width = width
        self._count = 0
        self._render: Callable[[Prediction], str] = getattr(self, f"_{fmt}")
        if fresh and fmt == "table":
            self._put(f"{'image':{width}}  {'confidence':>10}  label")
        elif fresh and fmt == "csv":
            self._put(_csv_line(_COLUMNS))

    def write(self, prediction: "Prediction") -> None:
        """Add one prediction."""
        self._put(self._render(prediction))
        self._count += 1

    def close(self) -> None:
        """End what needs an end (the JSON array)."""
        if self._format == "json":
            self._put("\n]" if self._count else "[]")

    def _put(self, line: str) -> None:
        encoding = self._stream.encoding or "utf-8"
        line = line.encode(encoding, "backslashreplace").decode(encoding)  # a narrow locale must not stop the run
        self._stream.write(line + ("" if self._format == "json" and not line.endswith("]") else "\n"))
        self._stream.flush()

    def _table(self, prediction: "Prediction") -> str:
        path = prediction.path or "-"
        if len(path) > self._width:
            path = "…" + path[1 - self._width :]
        others = [f"{prediction.labels[i]} {prediction.scores[i]:.0%}" for i in prediction.ranking(self._top)[1:]]
        others = [text for text in others if not text.endswith(" 0%")]
        label = prediction.label if prediction.label is not None else "(abstained)"
        tail = f"  ({', '.join(others)})" if others else ""
        return f"{path:{self._width}}  {prediction.confidence:>10.0%}  {label}{tail}"

    def _jsonl(self, prediction: "Prediction") -> str:
        return json.dumps(prediction.to_dict(trace=self._trace, top=self._top), ensure_ascii=False)

    def _json(self, prediction: "Prediction") -> str:
        return ("[\n" if self._count == 0 else ",\n") + self._jsonl(prediction)

    def _csv(self, prediction: "Prediction") -> str:
        row = prediction.to_dict(top=self._top)
        row["scores"] = json.dumps(row["scores"], ensure_ascii=False)
        return _csv_line(["" if row[column] is None else row[column] for column in _COLUMNS])


def open_output(path: Path, fmt: str, *, resume: bool, overwrite: bool) -> tuple[TextIO, set[str]]:
    """The file to write to, and the images it holds already (with resume); a cut-off last line is dropped."""
    if resume and fmt not in RESUMABLE:
        raise UsageError(f"--resume continues {' or '.join(RESUMABLE)} files; add --format jsonl.")
    if path.exists() and not (resume or overwrite):
        raise UsageError(f"{path} exists. Continue it with --resume, or replace it with --overwrite.")
    done: set[str] = set()
    if resume and path.exists():
        data = path.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        done = _paths_in(whole.decode("utf-8"), fmt, path)
        if len(whole) < len(data):
            os.truncate(path, len(whole))
    try:
        return path.open("a" if resume else "w", encoding="utf-8", newline=""), done
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}.") from error


def _paths_in(text: str, fmt: str, path: Path) -> set[str]:
    try:
        if fmt == "jsonl":
            return {json.loads(line)["path"] for line in text.splitlines()}
        return {row["path"] for row in csv.DictReader(io.StringIO(text))}
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{path} is not a {fmt} file of predictions ({error}); nothing was changed.") from error


def _csv_line(values: list[object] | list[str]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(values)
    return line.getvalue()


def stdout() -> TextIO:
    """Standard output."""
    return sys.stdout
