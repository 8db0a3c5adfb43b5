"""Answers as a flat table: a row for each image, failed ones too, that a spreadsheet opens without harm."""

import csv
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..prediction import Prediction

DIGITS = 4
"""After the point of probabilities and shares."""

LONGEST_CELL = 2**31 - 1
"""Characters that are read back; of itself the csv module refuses more than 131,072."""

_FIRST = ("path", "label", "probability", "vote_share", "votes")
_LAST = ("shown", "kept_views", "views_used", "tie_break", "method", "model", "index", "error")
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
_MARK = "'"


def columns(top: int) -> list[str]:
    """The header: the winner, the next labels up to `top` with their probabilities, and how it was decided."""
    return [*_FIRST, *(name for place in range(2, top + 1) for name in _pair(place)), *_LAST]


def answer_row(prediction: "Prediction", *, top: int) -> list[object]:
    """The cells of a prediction."""
    likely, votes = prediction.probabilities, prediction.votes
    share, ranking = prediction.vote_share, prediction.ranking(top)
    values: dict[str, object] = {
        "path": prediction.path,
        "label": prediction.label,
        "probability": _rounded(prediction.probability),
        "vote_share": None if share is None else _rounded(share),
        "votes": None if votes is None else _rounded(votes[prediction.index].item()),
        "shown": None if prediction.each is None else ", ".join(prediction.shown),
        "kept_views": _rounded(prediction.kept_votes),
        "views_used": prediction.views_used,
        "tie_break": prediction.tie_break,
        "method": prediction.method,
        "model": prediction.model,
        "index": prediction.index,
    }
    for place, i in enumerate(ranking[1:], 2):
        values |= zip(_pair(place), (prediction.labels[i], _rounded(float(likely[i]))), strict=True)
    return [values.get(name) for name in columns(top)]


def error_row(path: str, message: str, *, top: int) -> list[object]:
    """The cells of an image that has no answer."""
    return [{"path": path, "error": message}.get(name) for name in columns(top)]


def line(cells: Sequence[object]) -> str:
    """The cells as text without its end: texts that a spreadsheet would compute are defused."""
    text = io.StringIO()
    # An end of line of both characters has the writer quote cells that hold either.
    csv.writer(text, lineterminator="\r\n").writerow([_defused(cell) for cell in cells])
    return text.getvalue().removesuffix("\r\n")


def whole_rows(data: bytes) -> bytes:
    """The data up to the end of its last whole row; a line may end inside of quotes."""
    end = data.rfind(b"\n") + 1
    while data.count(b'"', 0, end) % 2:
        end = data.rfind(b"\n", 0, end - 1) + 1
    return data[:end]


def read_rows(text: str, *, top: int) -> list[dict[str, Any]]:
    """The rows as they were before `line`, under the names of their columns; ValueError for another table's."""
    names = columns(top)
    csv.field_size_limit(LONGEST_CELL)
    rows = [*csv.reader(io.StringIO(text, newline=""))]
    if rows and rows[0] != names:
        raise ValueError(f"its columns are {', '.join(rows[0])}: another --top, or something else")
    return [dict(zip(names, map(_as_written, row), strict=True)) for row in rows[1:]]


def labels_of(row: dict[str, Any], *, top: int) -> list[str]:
    """The labels after the winner in a row that was read."""
    return [label for place in range(2, top + 1) if (label := row[_pair(place)[0]])]


def _pair(place: int) -> tuple[str, str]:
    """The columns of the label at a place."""
    ordinal = {2: "second", 3: "third"}.get(place)
    return (f"{ordinal}_label", f"{ordinal}_probability") if ordinal else (f"label_{place}", f"probability_{place}")


def _rounded(value: float) -> float:
    return value if isinstance(value, int) else round(value, DIGITS)


def _defused(cell: object) -> object:
    """The cell with a mark before it where it starts as a formula; or as a defused one, so that both differ."""
    dangerous = isinstance(cell, str) and cell.lstrip(_MARK).startswith(_FORMULA)
    return f"{_MARK}{cell}" if dangerous else cell


def _as_written(cell: str) -> str:
    """What was given to `_defused`."""
    return cell[1:] if cell.startswith(_MARK) and cell.lstrip(_MARK).startswith(_FORMULA) else cell
