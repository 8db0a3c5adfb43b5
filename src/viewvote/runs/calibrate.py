"""A probability fitted on runs: one method and one model, over as many data sets as there are."""

from collections.abc import Sequence
from pathlib import Path

from ..classify.calibration import Calibration
from ..errors import UsageError
from ..metrics.fit_probability import fit_probability, held_back, joined, measured, read_answers
from ..reading import open_regular
from ..records.record import Record
from .read import Run, load_run, provenance_of


def calibrate_runs(paths: Sequence[Path]) -> Calibration:
    """The calibration that all records of the runs make together."""
    runs = [load_run(path) for path in paths]
    for what, names in (("model", {run.model for run in runs}), ("method", {run.method for run in runs})):
        if len(names) > 1:
            raise UsageError(f"the runs have several {what}s ({', '.join(sorted(names))}); fit each alone.")
    parts = [read_answers(run.records, votes=_votes(run)) for run in runs]
    answers = joined(parts, where="the runs")
    fit = fit_probability(answers)
    figures = {
        "before": measured(answers, answers.before.astype("float64")),
        "fit": measured(answers, answers.probability(fit)),
        "held_back": measured(answers, held_back(answers)),
        "runs": [provenance_of(path) for path in paths],
    }
    return Calibration(runs[0].method, runs[0].model, fit, figures)


def _votes(run: Run) -> bool:
    """Whether the run's method counts votes, as its first answer shows."""
    with open_regular(run.records) as lines:
        for line in lines:
            record = Record.from_line(line)
            if record.error is None:
                return record.votes is not None
    return False
