"""Adaptive views calibrated on runs: the vote replayed round by round, and how often seeds differ."""

from collections.abc import Sequence
from pathlib import Path

from ..errors import RecordError, UsageError
from ..metrics.replay import replay
from ..rates import Rate
from ..registry import unknown_name
from ..runs.calibrate import check_same
from ..runs.folder import RunFolder
from ..runs.read import Run, load_run, provenance_of, records_at, run_folders
from ..stopping.adaptive import NOISE, Calibration, Level
from ..stopping.calibrate import Replay, calibrate, joined, seed_noise
from .rescored import own_weight

VOTES = ("zero", "anchored")


def calibrate_runs(
    paths: Sequence[Path],
    *,
    disagreements: Sequence[float | str],
    method: str | None = None,
    keep: float = 0.3,
    budget: int | None = None,
) -> tuple[list[Calibration], dict[str, Rate]]:
    """A calibration for each accepted rate, and per data set how often two seeds differ, where there are any.

    A path is a file of records, a run's folder, or a folder of runs, which stands for all of them.
    """
    replays: dict[str, list[Replay]] = {}
    found_at = {path: _run_at(path) for path in run_folders(paths)}
    _check_together([run for run in found_at.values() if run is not None], method)
    models = set()
    for path, run in found_at.items():
        anchored = _is_anchored(run, method)
        if anchored and run is None:
            raise UsageError(f"{path} is a file of records; the anchored vote's weight is known from a run's folder.")
        weight = own_weight(run) if anchored and run is not None else None
        found = replay(records_at(path), keep=keep, budget=budget, weight=weight)
        replays.setdefault(str(path) if run is None else run.dataset, []).append(found)
        models |= set() if run is None else {run.model}
    together = joined([one for group in replays.values() for one in group])
    noise = {name: seed_noise(group) for name, group in replays.items() if len(group) > 1}
    provenance = {"runs": [provenance_of(path) for path in found_at], "records": len(together.keys)}
    model = models.pop() if len(models) == 1 else None

    def one(asked: float | str) -> Calibration:
        level: Level | None = NOISE if asked == NOISE else None
        rate = _mean_noise(noise) if isinstance(asked, str) else asked
        return calibrate(together, disagreement=rate, provenance=provenance, level=level, model=model)

    return [one(asked) for asked in disagreements], noise


def _run_at(path: Path) -> Run | None:
    """The run in a folder; None for a file of records."""
    try:
        return load_run(path) if RunFolder(path).exists else None
    except RecordError as error:
        raise UsageError(str(error)) from error


def _check_together(runs: Sequence[Run], method: str | None) -> None:
    """Raise UsageError where runs have several methods and none is asked for, or where two looked at the same views."""
    if method is None:
        check_same(runs, "method", advice="give runs of one, or --method")
    seen: dict[tuple[str, str, int], Run] = {}
    for run in runs:
        first = seen.setdefault((run.dataset, run.model, run.seed), run)
        if first is not run:
            raise UsageError(
                f"{first.path} and {run.path} looked at the same views ({run.dataset}, {run.model}, seed {run.seed}); "
                "give one of them."
            )


def _mean_noise(noise: dict[str, Rate]) -> float:
    """The share of all images whose answer changes with the seed."""
    if not noise:
        seed_noise([])  # the error that names what is missing
    images = sum(rate.n for rate in noise.values())
    differing = sum(rate.value * rate.n for rate in noise.values())
    if not differing:
        raise UsageError(
            f"two seeds gave all {images} pairs of answers alike, so how often they differ is not known; "
            "give runs of more images, or a rate such as 0.01."
        )
    return round(differing / images, 5)


def _is_anchored(run: Run | None, method: str | None) -> bool:
    asked = method or ("zero" if run is None else run.method)
    if method is not None and method not in VOTES:
        raise unknown_name("vote", method, VOTES)
    return asked == "anchored"
