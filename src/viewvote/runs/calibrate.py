"""A probability fitted on runs: one method and one model, over as many data sets as there are."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from ..classify.calibration import Calibration
from ..errors import UsageError
from ..metrics.fit_probability import fit_probability, held_back, joined, measured, read_answers
from ..reading import open_regular
from ..records.record import Record
from .read import Run, load_runs, provenance_of


def calibrate_runs(paths: Sequence[Path]) -> Calibration:
    """The calibration that all records of the runs make together; a folder of runs stands for all of them."""
    runs = load_runs(paths)
    check_same(runs, "model")
    check_same(runs, "method")
    parts = [read_answers(run.records, votes=_votes(run)) for run in runs]
    answers = joined(parts, where="the runs")
    fit = fit_probability(answers)
    figures = {
        "before": measured(answers, answers.before.astype("float64")),
        "fit": measured(answers, answers.probability(fit)),
        "held_back": measured(answers, held_back(answers)),
        "runs": [provenance_of(run.path) for run in runs],
    }
    return Calibration(runs[0].method, runs[0].model, fit, figures)


def check_same(runs: Sequence[Run], what: Literal["model", "method"], *, advice: str = "fit each alone") -> None:
    """Raise UsageError unless all runs have the same model, or method; it names the runs of each."""
    found: dict[str, list[str]] = {}
    for run in runs:
        found.setdefault(getattr(run, what), []).append(str(run.path))
    if len(found) > 1:
        paths = "; ".join(f"{name}: {', '.join(found[name])}" for name in sorted(found))
        raise UsageError(f"the runs have several {what}s ({', '.join(sorted(found))}); {advice}. {paths}")


def _votes(run: Run) -> bool:
    """Whether the run's method counts votes, as its first answer shows."""
    with open_regular(run.records) as lines:
        for line in lines:
            record = Record.from_line(line)
            if record.error is None:
                return record.votes is not None
    return False
