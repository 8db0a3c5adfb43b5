"""Writers of predictions: each writes whole lines as results come."""

import codecs
import json
import os
import sys
from collections.abc import Callable
from os import SEEK_END
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from ..outputs import check_output, lock_output, open_to_add
from . import flat_csv
from .classify import Format
from .resume import done_before
from .terminal import columns_of

if TYPE_CHECKING:
    from ..classify.classifier import Classifier
    from ..prediction import Prediction

RESUMABLE = ("jsonl", "csv")
ENDINGS: dict[str, Format] = {".csv": "csv", ".json": "json", ".jsonl": "jsonl", ".ndjson": "jsonl"}
_BEST = 3


class Writer:
    """Writes predictions in one format to a stream; a line is written in one piece and flushed.

    Without a stream it writes to what is standard output at that moment: a progress bar stands in for it meanwhile.
    """

    def __init__(
        self, stream: TextIO | None, fmt: Format, *, top: int | None, trace: bool, width: int, fresh: bool
    ) -> None:
        self._stream = stream
        self._format = fmt
        self._top = scores_shown(fmt, top)
        self._trace = trace
        self._width = width
        self._count = 0
        self.abstained = 0
        self._render: Callable[[Prediction], str] = getattr(self, f"_{fmt}")
        if fresh and fmt == "table":
            self._put(f"{'image':{width}}  {'likely':>6}  {'views':>5}  {'votes':>8}  label")
        elif fresh and fmt == "csv":
            self._put(flat_csv.line(flat_csv.columns(self._top or _BEST)))

    def write(self, prediction: "Prediction") -> None:
        """Add one prediction."""
        self._put(self._render(prediction))
        self._count += 1
        self.abstained += prediction.abstained

    def fail(self, path: str, error: Exception) -> None:
        """Note in a table that an image has no answer; the other formats hold answers alone."""
        if self._format == "csv":
            self._put(flat_csv.line(flat_csv.error_row(path, str(error), top=self._top or _BEST)))

    def close(self) -> None:
        """End what needs an end (the JSON array)."""
        if self._format == "json":
            self._put("\n]" if self._count else "[]")

    def _put(self, line: str) -> None:
        # A narrow locale must not stop the run.
        line = line.encode(self._encoding, "backslashreplace").decode(self._encoding)
        stream = self._stream or sys.stdout
        stream.write(line + ("" if self._format == "json" and not line.endswith("]") else "\n"))
        stream.flush()

    @property
    def _encoding(self) -> str:
        return (self._stream or sys.stdout).encoding or "utf-8"

    def _dumps(self, value: object) -> str:
        """The value as JSON; in ASCII where the stream has not every character, as \\xe9 is no escape of JSON's."""
        return json.dumps(value, ensure_ascii=codecs.lookup(self._encoding).name != "utf-8")

    def _table(self, prediction: "Prediction") -> str:
        path = prediction.path or "-"
        while columns_of(path) > self._width:
            path = "…" + path[2:]
        others = [
            f"{prediction.labels[i]} {prediction.probabilities[i]:.0%}" for i in prediction.ranking(self._top)[1:]
        ]
        others = [text for text in others if not text.endswith(" 0%")]
        label = prediction.label if prediction.label is not None else "(abstained)"
        if prediction.each is not None:
            shown = [f"{prediction.labels[i]} {prediction.each.probabilities[i]:.0%}" for i in prediction.each.there]
            others = [f"shows {', '.join(shown) or 'none of the labels'}"]
        tail = f"  ({', '.join(others)})" if others else ""
        path += " " * (self._width - columns_of(path))
        looked = f"{prediction.views_used:>5}  {prediction.votes_won:>8}"
        return f"{path}  {prediction.probability:>6.0%}  {looked}  {label}{tail}"

    def _jsonl(self, prediction: "Prediction") -> str:
        return self._dumps(prediction.to_dict(trace=self._trace, top=self._top))

    def _json(self, prediction: "Prediction") -> str:
        return ("[\n" if self._count == 0 else ",\n") + self._jsonl(prediction)

    def _csv(self, prediction: "Prediction") -> str:
        return flat_csv.line(flat_csv.answer_row(prediction, top=self._top or _BEST))


def open_output(
    path: Path, fmt: Format, *, resume: bool, overwrite: bool, top: int | None, classifier: "Classifier"
) -> tuple[TextIO, set[str]]:
    """The file to write to, locked until it is closed, and the images it holds already as it names them (`as_written`).

    Nothing is read or cut off before the lock is held: another process may be writing.
    """
    check_answers(path, resume=resume, overwrite=overwrite)
    stream = _locked(path)
    try:
        done: set[str] = set()
        if stream.seekable() and stream.tell():
            check_answers(path, resume=resume, overwrite=overwrite)  # it may have been written meanwhile
            if resume:
                done = done_before(path, fmt, top=scores_shown(fmt, top), classifier=classifier)
                if os.fstat(stream.fileno()).st_ino != path.stat().st_ino:  # written anew, without its errors
                    stream.close()
                    stream = _locked(path)
                stream.seek(0, SEEK_END)
            else:
                stream.truncate(0)
    except BaseException:
        stream.close()
        raise
    return stream, done


def _locked(path: Path) -> TextIO:
    """The file, open at its end and locked for as long as it is."""
    stream = open_to_add(path)
    try:
        lock_output(stream, path)
    except BaseException:
        stream.close()
        raise
    return stream


def check_answers(path: Path, *, resume: bool, overwrite: bool) -> None:
    """Raise UsageError unless answers may be written to this file."""
    check_output(
        path, overwrite=resume or overwrite, otherwise="Continue it with --resume, or replace it with --overwrite."
    )


def scores_shown(fmt: Format, top: int | None) -> int | None:
    """How many labels get their scores: as many as asked for, else the best three, but all of them (None) in JSON."""
    return _BEST if top is None and fmt in ("table", "csv") else top
