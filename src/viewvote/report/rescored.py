"""One run under other settings, as a table."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from ..errors import RecordError, UsageError
from ..methods.anchored import weight_for
from ..metrics.calibration import reliability
from ..metrics.rescore import Answers, Setting, rescore
from ..metrics.selective import risk_coverage
from ..rates import rate_of
from ..records.columns import column_pieces
from ..runs.read import Run
from .formats.render import csv_text
from .formats.strict_json import strict_json
from .published import KEEP

Line = Mapping[str, Any]


def recorded_views(run: Run) -> int:
    """How many views the run's first usable record holds."""
    for piece in column_pieces(run.records, size=64):
        if piece.usable.any():
            return int((piece.labels[piece.usable] >= 0).sum(axis=1)[0])
    raise RecordError(f"{run.records} holds no usable image; there is nothing to score.")


def settings_of(
    run: Run,
    *,
    keeps: Sequence[float] = (),
    views: Sequence[int] = (),
    ties: Sequence[str] = ("greedy",),
    weights: Sequence[float | None] = (None,),
) -> list[Setting]:
    """Every combination of these; without a keep or a number of views, those of the run. A weight anchors the vote."""
    shares = keeps or [run.spec.keep or KEEP]
    return [Setting(*each) for each in product(views or [recorded_views(run)], shares, ties, weights)]


def own_weight(run: Run) -> float:
    """The source view's weight in an anchored run; UsageError where the run does not hold it."""
    given = run.spec.settings.get("weight") if run.method == "anchored" else None
    if given is not None:
        return float(given)
    if run.likeness is None:
        raise UsageError(
            f"{run.path} does not hold how alike its labels are to the model, from which the weight would follow. "
            "Give --weight, e.g. --weight 1."
        )
    return weight_for(run.likeness)


def rescored_rows(run: Run, settings: Sequence[Setting]) -> list[Line]:
    """Zero-shot and each setting: top-1 with its interval, n, errors, ties, ECE and AURC of the vote share."""
    asked: list[Setting | None] = [None, *settings]
    lines = [_line(setting, answers) for setting, answers in zip(asked, rescore(run.records, asked), strict=True)]
    if all(setting.weight is None for setting in settings):
        return lines
    return [{**line, "weight": setting.weight if setting else None} for setting, line in zip(asked, lines, strict=True)]


def _line(setting: Setting | None, answers: Answers) -> Line:
    rate = rate_of(answers.correct, answers.usable)
    sure, right = answers.confidence[answers.usable], answers.correct[answers.usable]
    return {
        "method": "zero-shot" if setting is None else "zero" if setting.weight is None else "anchored",
        "views": setting.views if setting else 1,
        "keep": setting.keep if setting else None,
        "tie": setting.tie if setting else None,
        "top1": rate.value,
        "low": rate.low,
        "high": rate.high,
        "n": rate.n,
        "errors": rate.errors,
        "ties": int(np.count_nonzero(answers.tied)),
        "ece": reliability(sure, right).ece,
        "aurc": risk_coverage(sure, right).aurc,
    }


def rescored_text(run: Run, rows: Sequence[Line], fmt: str) -> str:
    """The rows as a table for people, JSON or CSV."""
    if fmt == "json":
        return strict_json({"run": str(run.path), "dataset": run.dataset, "rows": rows})
    if fmt == "csv":
        return csv_text(rows)
    named = ["method", "views", "keep", "tie", *(["weight"] if "weight" in rows[0] else [])]
    cells = [[*named, "top-1 [95%]", "n", "errors", "ties", "ECE", "AURC"]]
    for row in rows:
        top1 = f"{row['top1']:.2%} [{row['low']:.2%}, {row['high']:.2%}]"
        asked = ["-" if row[name] is None else _written(name, row[name]) for name in named]
        counts = [str(row[name]) for name in ("n", "errors", "ties")]
        cells.append([*asked, top1, *counts, f"{row['ece']:.4f}", f"{row['aurc']:.4f}"])
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in cells]
    return "\n".join([f"{run.dataset} ({run.split}), {run.model}, seed {run.seed}", *lines]) + "\n"


def _written(name: str, value: object) -> str:
    """A setting as a table shows it; a weight that follows from the labels has many digits."""
    return f"{value:.4g}" if name == "weight" else str(value)
