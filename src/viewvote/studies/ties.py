"""App. E: how often the kept views tie, and what each of the seven rules makes of it."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..metrics.accuracy import over_seeds, pooled
from ..metrics.rescore import Answers, Setting, rescore
from ..pictures.plots import legend_above
from ..rates import rate_of
from ..report.rescored import recorded_views
from ..runs.read import Run
from ..vote import TIE_RULES
from .base import COUNTS, NAMES, Column, Finding, Group, Options, groups, of_views

COLUMNS = (
    *NAMES,
    Column("rule", "tie rule"),
    Column("top1", "top-1", "percent", "low", "high", "std"),
    Column("of_ties", "right among ties", "percent"),
    Column("ties", "ties", "count"),
    Column("share", "share of images", "percent"),
    *COUNTS,
)


def study(runs: Sequence[Run], options: Options) -> Finding:
    """Accuracy under every tie rule on the same views, and how often they had to decide."""
    del options
    rows = tuple(row for group in groups(of_views(runs)) for row in _rows(group))
    return Finding(
        name="ties",
        title="Tie rules on the same views",
        columns=COLUMNS,
        rows=rows,
        notes=(
            "Top-1 in % with Wilson's 95% interval, each run at its own keep; +- is the deviation over seeds. Rules "
            "differ on ties alone: `right among ties` is over those images, and `ties` is the first seed's count.",
        ),
        draw=lambda figure: _draw(figure, rows),
        size=(6.4, 3.4),
    )


def _rows(group: Group) -> list[dict[str, Any]]:
    seeds = [_of_run(run) for run in group.runs]
    rows = []
    for i, rule in enumerate(TIE_RULES):
        answers = [one[i] for one in seeds]
        rates = [rate_of(one.correct, one.usable) for one in answers]
        top1, rate = over_seeds([one.value for one in rates]), pooled(rates)
        tied = [one.correct[one.tied] for one in answers]
        rows.append(
            {
                **group.names,
                "rule": rule,
                "top1": top1.mean,
                "low": rate.low,
                "high": rate.high,
                "std": top1.std,
                "ties": int(answers[0].tied.sum()),
                "share": float(np.mean([one.tied[one.usable].mean() for one in answers])),
                "of_ties": float(np.concatenate(tied).mean()) if sum(map(len, tied)) else None,
                "n": rates[0].n,
                "seeds": len(seeds),
            }
        )
    return rows


def _of_run(run: Run) -> list[Answers]:
    views, keep = recorded_views(run), run.spec.keep or 0.3
    return rescore(run.records, [Setting(views, keep, rule) for rule in TIE_RULES])


def _draw(figure: Any, rows: Sequence[Mapping[str, Any]]) -> None:
    """Accuracy per rule with its interval, one colour per dataset."""
    axis = figure.subplots()
    names = list(dict.fromkeys((row["dataset"], row["model"]) for row in rows))
    for i, name in enumerate(names):
        shown = [row for row in rows if (row["dataset"], row["model"]) == name][: len(TIE_RULES)]
        at = np.arange(len(shown)) + 0.6 * (i - (len(names) - 1) / 2) / max(1, len(names))
        values = np.array([row["top1"] for row in shown])
        spread = np.abs(np.array([[row["low"], row["high"]] for row in shown]) - values[:, None]).T
        label = f"{name[0]}: {shown[0]['ties']} ties of {shown[0]['n']}"
        axis.errorbar(at, 100 * values, yerr=100 * spread, fmt="o", color=f"C{i}", label=label)
    axis.set_xticks(range(len(TIE_RULES)), TIE_RULES, rotation=20, ha="right")
    axis.set_ylabel("top-1 [%]")
    legend_above(axis)
