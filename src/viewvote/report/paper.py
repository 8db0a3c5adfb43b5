"""The paper's published accuracies, to be shown next to ours."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from ..registry import unknown_name


@dataclass(frozen=True)
class PaperRow:
    """One row of one of the paper's tables of top-1 accuracies, in percent.

    table      the label of the table in the paper ("nds" is \\ref{tab:nds}); `title` says what it shows
    model, row the printed group and name; `row` names RLCF's variants in words
    method     our name of the method, with its `templates` and `settings`; "augmented" is zero-shot on confident views
    keep       the share of views that ZERO kept in this table
    values     dataset -> accuracy, and `std` over seeds where printed (for "fc" they are in a table of their own)
    mean       as printed, over the row's columns: five with ImageNet, four for MaPLe, ten for "fc"
    """

    table: str
    title: str
    keep: float
    model: str
    row: str
    method: str
    values: Mapping[str, float]
    templates: str = "photo"
    settings: Mapping[str, Any] = field(default_factory=dict)
    std: Mapping[str, float] = field(default_factory=dict)
    mean: float | None = None
    median: float | None = None


def paper_rows(*, table: str | None = None, dataset: str | None = None) -> list[PaperRow]:
    """The rows of a table, or of all; only those with a value for `dataset` where it is given."""
    if table is not None and table not in _tables():
        raise unknown_name("table of the paper", table, _tables())
    rows = [row for name, rows in _tables().items() if table in (None, name) for row in rows]
    return [row for row in rows if dataset is None or dataset in row.values]


def paper_tables() -> list[str]:
    """The labels of the paper's tables, in the paper's order."""
    return list(_tables())


@cache
def _tables() -> dict[str, list[PaperRow]]:
    text = (files("viewvote.report") / "data" / "paper.json").read_text(encoding="utf-8")
    return {
        name: [PaperRow(table=name, title=entry["title"], keep=entry["keep"], **row) for row in entry["rows"]]
        for name, entry in json.loads(text).items()
    }
