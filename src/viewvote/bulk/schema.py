"""The table of answers: its columns, and a row of it."""

import json
from collections.abc import Mapping
from typing import Any

from ..errors import UsageError, ViewvoteError
from ..prediction import Prediction
from ..sources import SourceItem
from ..sources.columnar import arrow

FORMAT = 1
"""The number of this schema; columns are only ever added to it."""

OWN = (
    "key",
    "label",
    "index",
    "probability",
    "vote_share",
    "votes",
    "kept_views",
    "views_used",
    "tie_break",
    "stop",
    "top",
    "shown",
    "error",
)


def schema_of(kept: Mapping[str, Any]) -> Any:
    """The Arrow schema: our columns, then the kept ones with the types they have in the source."""
    for name in kept:
        if name in OWN:
            raise UsageError(f"a kept column cannot be named {name!r}, as an answer's own is; rename it in the source.")
    pa = arrow()
    best = pa.struct([("label", pa.string()), ("index", pa.int32()), ("probability", pa.float64())])
    types = {
        "key": pa.string(),
        "label": pa.string(),
        "index": pa.int32(),
        "probability": pa.float64(),
        "vote_share": pa.float64(),
        "votes": pa.float64(),
        "kept_views": pa.float64(),
        "views_used": pa.int32(),
        "tie_break": pa.string(),
        "stop": pa.string(),
        "top": pa.list_(best),
        "shown": pa.list_(pa.string()),
        "error": pa.string(),
    }
    return pa.schema([*types.items(), *kept.items()])


def row_of(item: SourceItem, answer: Prediction | ViewvoteError, *, top: int) -> dict[str, Any]:
    """The row of an image: its answer, or why there is none."""
    row = {"key": _text(item.key), **item.columns}
    if isinstance(answer, ViewvoteError):
        return row | {"error": _text(str(answer))}
    likely = answer.probabilities
    best = [{"label": answer.labels[i], "index": i, "probability": float(likely[i])} for i in answer.ranking(top)]
    return row | {
        "label": answer.label,
        "index": answer.index,
        "probability": answer.probability,
        "vote_share": answer.vote_share,
        "votes": None if answer.votes is None else float(answer.votes[answer.index]),
        "kept_views": None if answer.votes is None else float(answer.kept_votes),
        "views_used": answer.views_used,
        "tie_break": answer.tie_break,
        "stop": answer.stop,
        "top": best,
        "shown": None if answer.each is None else list(answer.shown),
    }


def table_of(rows: list[dict[str, Any]], schema: Any) -> Any:
    """The rows as an Arrow table; what stands in a column of text and is none becomes JSON."""
    pa = arrow()
    columns = []
    for field in schema:
        values = [row.get(field.name) for row in rows]
        if field.name not in OWN and pa.types.is_string(field.type):
            values = [None if value is None else _text(_as_text(value)) for value in values]
        columns.append(pa.array(values, type=field.type))
    return pa.table(columns, schema=schema)


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _text(text: str) -> str:
    """Text that is UTF-8: what a file's name or JSON has of other things is escaped."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
