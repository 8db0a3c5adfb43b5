"""The records of a run as numpy columns, read in pieces: a few microseconds and about a kilobyte per record."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, fields
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Bool, Float32, Float64, Int64
from ..errors import RecordError
from ..prediction import ViewColumns
from ..reading import open_regular, parse_json, reason
from ..vote import TIE_RULES
from .check import check_columns
from .evidence import TieEvidence, evidence_of
from .record import TOP

PIECE = 2048
"""Records read at a time."""

TIMINGS = ("read", "render", "encode", "decide", "total")


@dataclass(frozen=True, kw_only=True)
class Columns(ViewColumns):
    """One row per record; the columns of the views are (records, views), padded where a record has fewer or none.

    index, top5, source_top, labels, teacher_labels     padded with -1 (also: unusable image, teacher not asked)
    confidence, probability, source_probability, entropy, top_probability, tie_draw, seconds    padded with NaN
    rule           index in TIE_RULES of the rule that broke a tie, -1 without one
    seconds        (records, TIMINGS)
    """

    keys: tuple[str, ...]
    target: Int64  # (records,)
    index: Int64
    confidence: Float32
    probability: Float32
    rule: Int64
    top5: Int64  # (records, 5)
    source_top: Int64
    source_probability: Float32
    views_used: Int64
    teacher_labels: Int64  # (records, views)
    tie_draw: Float64
    seconds: Float64
    evidence: tuple[TieEvidence, ...] = ()  # only from `column_pieces`

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def usable(self) -> Bool:
        """True for records with an answer; the others are images that could not be used."""
        return np.asarray(self.index >= 0)

    @property
    def correct(self) -> Bool:
        """True where the answer is the target."""
        return np.asarray(self.usable & (self.index == self.target))

    def take(self, rows: NDArray[Any]) -> "Columns":
        """The records at these positions (or where a mask is True), in that order."""
        chosen = np.arange(len(self))[rows]
        values = {name: column[chosen] for name, column in vars(self).items() if isinstance(column, np.ndarray)}
        evidence = tuple(self.evidence[i] for i in chosen) if self.evidence else ()
        return Columns(keys=tuple(self.keys[i] for i in chosen), evidence=evidence, **values)


def read_columns(path: Path, *, views: bool = True, evidence: bool = False) -> Columns:
    """All records of a file, with the evidence of ties only on demand; a cut-off last line is not yet a record.

    views=False skips the table of the views (its columns are then empty), which is most of a line: four times as fast.
    """
    pieces = [_columns(rows, path, evidence=evidence) for rows in _pieces(path, PIECE, views=views)]
    columns = _joined(pieces or [_columns([], path, evidence=False)])
    if len(set(columns.keys)) < len(columns):
        again = Counter(columns.keys).most_common(1)[0][0]
        raise RecordError(f"{path} holds {again!r} more than once; a run records every sample once. Run it again.")
    return columns


def column_pieces(path: Path, *, size: int = PIECE) -> Iterator[Columns]:
    """The records of a file in pieces of at most `size`, each with the evidence of its ties."""
    for rows in _pieces(path, size, views=True):
        yield _columns(rows, path, evidence=True)


def _pieces(path: Path, size: int, *, views: bool) -> Iterator[list[dict[str, Any]]]:
    try:
        with open_regular(path) as stream:
            number = 0
            while lines := list(islice(stream, size)):
                whole = (line for line in lines if line.endswith(b"\n"))
                rows = [_row(line if views else _shortened(line), path, number + i) for i, line in enumerate(whole, 1)]
                number += len(lines)
                if rows:
                    yield rows
    except OSError as error:
        raise RecordError(f"cannot read {path}: {reason(error)}. A run's folder has a records.jsonl.") from error


def _shortened(line: bytes) -> bytes:
    """A record's line without its table of views. The marks cannot be inside a string: there, quotes are escaped."""
    start, end = line.find(b',"views":'), line.rfind(b',"tie_draw":')
    if not 0 < start < end:
        return line
    return line[:start] + b',"views":null,"source_top":[],"source_probability":null' + line[end:]


def _row(line: bytes, path: Path, number: int) -> dict[str, Any]:
    row = parse_json(line, source=f"{path}, line {number}", error=RecordError)
    if not isinstance(row, dict):
        raise RecordError(f"{path}, line {number} is not a record: it is no JSON object.")
    return row


_NO_VIEWS: dict[str, list[Any]] = {"labels": [], "entropy": [], "top_probability": [], "kept": []}


def _columns(rows: list[dict[str, Any]], path: Path, *, evidence: bool) -> Columns:
    try:
        views = [row["views"] or _NO_VIEWS for row in rows]
        counts = np.array([len(v["labels"]) for v in views], dtype=np.int64)
        width = int(counts.max(initial=0))
        kept = np.zeros((len(rows), width), dtype=np.bool_)
        for i, view in enumerate(views):
            kept[i, view["kept"]] = True
        columns = Columns(
            keys=tuple(str(row["key"]) for row in rows),
            target=_scalars([row["target"] for row in rows], np.int64),
            index=_scalars([row["index"] for row in rows], np.int64),
            confidence=_scalars([row["confidence"] for row in rows], np.float32),
            probability=_scalars([row["probability"] for row in rows], np.float32),
            rule=np.array([TIE_RULES.index(r) if (r := row["tie_break"]) else -1 for row in rows], dtype=np.int64),
            top5=_padded([row["top5"] for row in rows], np.int64, TOP),
            source_top=_padded([row["source_top"] for row in rows], np.int64, TOP),
            source_probability=_scalars([row["source_probability"] for row in rows], np.float32),
            views_used=_scalars([row["views_used"] for row in rows], np.int64),
            labels=_padded([v["labels"] for v in views], np.int64, width),
            entropy=_padded([v["entropy"] for v in views], np.float32, width),
            top_probability=_padded([v["top_probability"] for v in views], np.float32, width),
            kept=kept,
            teacher_labels=_padded([(row["teacher_labels"] or [])[:width] for row in rows], np.int64, width),
            tie_draw=_scalars([row["tie_draw"] for row in rows], np.float64),
            seconds=_padded(
                [[row["timings"].get(t, np.nan) for t in TIMINGS] for row in rows], np.float64, len(TIMINGS)
            ),
            evidence=tuple(evidence_of(row) for row in rows) if evidence else (),
        )
        check_columns(columns, counts)
        return columns
    except RecordError as error:
        raise RecordError(f"{path}: {error}") from error
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
        raise RecordError(f"{path} is not a file of records ({type(error).__name__}: {error}).") from error


def _pad(dtype: Any) -> Any:
    return -1 if np.issubdtype(dtype, np.integer) else np.nan


def _scalars(values: list[Any], dtype: Any) -> NDArray[Any]:
    out = np.empty(len(values), dtype=dtype)
    out[:] = [_pad(dtype) if value is None else value for value in values]
    return out


def _padded(lists: list[list[Any]], dtype: Any, width: int) -> NDArray[Any]:
    """The lists as rows of one array."""
    lengths = np.array([len(one) for one in lists], dtype=np.int64)
    out = np.full((len(lists), width), _pad(dtype), dtype=dtype)
    out[np.arange(width) < lengths[:, None]] = np.array([value for one in lists for value in one], dtype=dtype)
    return out


def _joined(pieces: list[Columns]) -> Columns:
    values: dict[str, Any] = {}
    for each in fields(Columns):
        parts = [getattr(piece, each.name) for piece in pieces]
        if each.name in ("keys", "evidence"):
            values[each.name] = tuple(value for part in parts for value in part)
            continue
        if parts[0].ndim == 2:
            width = max(part.shape[1] for part in parts)
            pad = False if parts[0].dtype == np.bool_ else _pad(parts[0].dtype)
            parts = [np.pad(p, ((0, 0), (0, width - p.shape[1])), constant_values=pad) for p in parts]
        values[each.name] = np.concatenate(parts)
    return Columns(**values)
