"""Runs that nobody ran: other settings scored from a vote's records, as rows of a table."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..errors import UsageError
from ..metrics.rescore import Setting, rescore
from ..records.columns import Columns
from ..runs.read import Run

ZERO_SHOT = "zero-shot"


@dataclass(frozen=True)
class DerivedRun(Run):
    """A run whose answers are scored from the records of another, at its spec's keep, or as zero-shot."""

    def columns(self, *, views: bool = False) -> Columns:
        """The other run's records with the answers of this one; the five best classes only where they are known."""
        del views
        found = super().columns(views=True)
        setting = None if self.knows_top5 else Setting(int(found.views_used.max()), self.spec.keep or 0.3)
        (answers,) = rescore(self.records, [setting])
        unknown = np.full_like(found.top5, -1)
        unknown[:, 0] = answers.index
        return replace(
            found,
            index=answers.index,
            confidence=answers.confidence,
            top5=found.source_top if self.knows_top5 else unknown,
        )

    @property
    def knows_top5(self) -> bool:
        """Whether the five best classes are in the records: of the source view alone."""
        return self.method == ZERO_SHOT


def derived_runs(runs: Sequence[Run], wanted: Sequence[str]) -> list[DerivedRun]:
    """For each run of zero that looked at all its views, one run per setting: "zero-shot" or "keep=0.1"."""
    settings = [_read(text) for text in wanted]
    voted = [run for run in runs if run.n and run.method == "zero" and run.spec.stop is None]
    return [_derived(run, keep) for run in voted for keep in settings if keep != (run.spec.keep or 0.3)]


def _read(text: str) -> float | None:
    """The keep that a setting names, None for zero-shot."""
    name, _, value = text.partition("=")
    if text == ZERO_SHOT:
        return None
    try:
        if name == "keep":
            return float(value)
    except ValueError:
        pass
    raise UsageError(f"a table takes rescored rows of zero-shot or of keep=SHARE, such as keep=0.1; got {text!r}.")


def _derived(run: Run, keep: float | None) -> DerivedRun:
    spec = replace(run.spec, keep=keep) if keep is not None else replace(run.spec, method=ZERO_SHOT, keep=None)
    if keep is None and run.spec.teacher is not None:
        spec = replace(spec, teacher=None)  # the source view's classes are the student's
    return DerivedRun(run.path, spec, run.summary, run.n, run.dataset_name, run.other, run.likeness, run.weights)
