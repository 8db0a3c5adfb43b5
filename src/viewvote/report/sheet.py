"""Everything one run's records say about it, on one sheet."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import UsageError
from ..metrics.accuracy import macro_accuracy, top1, top5
from ..metrics.calibration import BINS, Reliability, kept_confidence, reliability, source_confidence
from ..metrics.cost import Cost, cost_of
from ..metrics.selective import RiskCoverage, risk_coverage
from ..rates import Rate, rate_of
from ..records.columns import Columns
from ..runs.read import Run


@dataclass(frozen=True)
class Sheet:
    """Rates, calibration, selection and cost of one run.

    calibration  of the answer's `confidence` and `probability`, and, where views were recorded, of the source views
                 (zero-shot) and of all kept views, which is the paper's augmented dataset (Sec. 3.1)
    """

    run: Run
    rates: Mapping[str, Rate]
    calibration: Mapping[str, Reliability]
    selection: Mapping[str, RiskCoverage]
    cost: Cost | None
    ties: int
    mean_views: float

    def to_dict(self) -> dict[str, Any]:
        """The sheet as JSON-ready values; curves are left out."""
        return {
            "run": str(self.run.path),
            "dataset": self.run.dataset,
            "model": self.run.model,
            "method": self.run.title,
            "seed": self.run.seed,
            "split": self.run.split,
            **{name: vars(rate) for name, rate in self.rates.items()},
            "ece": {name: found.ece for name, found in self.calibration.items()},
            "ece_paper": {name: found.ece_paper for name, found in self.calibration.items()},
            "aurc": {name: found.aurc for name, found in self.selection.items()},
            "reliability": {name: bins_of(found) for name, found in self.calibration.items()},
            "ties_broken": self.ties,
            "mean_views": self.mean_views,
            "seconds": None if self.cost is None else vars(self.cost),
            "peak_memory_mb": self.run.peak_memory_mb,
        }

    def __str__(self) -> str:
        lines = [f"{self.run.title}, {self.run.model}, on {self.run.dataset} ({self.run.split}), seed {self.run.seed}"]
        lines += [f"{name:22}{rate}" for name, rate in self.rates.items()]
        lines.append(f"{'ties broken':22}{self.ties}")
        lines.append(f"{'views per image':22}{self.mean_views:.1f}")
        for name, found in self.calibration.items():
            aurc = f", AURC {self.selection[name].aurc:.4f}" if name in self.selection else ""
            lines.append(f"{'of ' + name:22}ECE {found.ece:.4f} (as the paper prints it {found.ece_paper:.4f}){aurc}")
        if self.cost is not None:
            stages = ", ".join(f"{name} {seconds:.3f}" for name, seconds in self.cost.mean.items())
            lines.append(f"{'seconds per image':22}{stages}; median {self.cost.median:.3f}, 95% {self.cost.p95:.3f}")
        if memory := self.run.peak_memory_mb:
            lines.append(f"{'peak memory':22}{memory:.0f} MB")
        lines += ["", f"{'confidence':16}{'n':>7}{'accuracy':>10}{'mean':>8}"]
        shown = next(iter(self.calibration.values()), None)
        lines += (
            []
            if shown is None
            else [
                f"{low:.2f} to {high:.2f}    {n:7d}{accuracy:10.3f}{mean:8.3f}"
                for low, high, n, accuracy, mean in zip(
                    shown.edges[:-1], shown.edges[1:], shown.count, shown.accuracy, shown.confidence, strict=True
                )
                if n
            ]
        )
        return "\n".join(lines)


def fill_sheet(run: Run, *, bins: int = BINS) -> Sheet:
    """The sheet of a run; one without a record is an error."""
    if not run.n:
        raise UsageError(f"{run.path} has no record yet; `viewvote eval` with its spec.toml continues it.")
    columns = run.columns(views=True)
    usable = columns.usable
    rates = {
        "top-1": top1(columns),
        "top-5": top5(columns),
        "macro": macro_accuracy(columns.target, columns.correct, usable),
    }
    if len(columns) and (columns.source_top[usable, 0] >= 0).all():
        rates["zero-shot"] = rate_of(columns.source_top[:, 0] == columns.target, usable)
    answers = {"confidence": columns.confidence[usable], "probability": columns.probability[usable]}
    correct = columns.correct[usable]
    return Sheet(
        run=run,
        rates=rates,
        calibration={name: reliability(sure, correct, bins=bins) for name, sure in answers.items()}
        | _of_views(columns, bins),
        selection={name: risk_coverage(sure, correct) for name, sure in answers.items()},
        cost=cost_of(columns),
        ties=int((columns.rule >= 0).sum()),
        mean_views=float(columns.views_used[usable].mean()) if usable.any() else float("nan"),
    )


def bins_of(found: Reliability) -> list[dict[str, float | int]]:
    """The bins that hold something, as JSON-ready values."""
    return [
        {
            "from": float(found.edges[i]),
            "to": float(found.edges[i + 1]),
            "n": int(found.count[i]),
            "accuracy": float(found.accuracy[i]),
            "confidence": float(found.confidence[i]),
        }
        for i in np.flatnonzero(found.count)
    ]


def _of_views(columns: Columns, bins: int) -> dict[str, Reliability]:
    views = {"source views": source_confidence(columns), "kept views": kept_confidence(columns)}
    return {name: reliability(*pair, bins=bins) for name, pair in views.items() if len(pair[0])}
