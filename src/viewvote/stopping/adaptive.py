"""`Adaptive`: what a user asks for, and the calibrated thresholds it stands for."""

import json
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from ..errors import UsageError
from .rules import Confident

SHIPPED = "shipped.json"


@dataclass(frozen=True)
class Calibration:
    """Thresholds of the Confident rule for one budget, keep and accepted rate of disagreement.

    fit              what the rule did on the records that chose the thresholds: n, views used on average, rate of
                     agreement with the full budget and its 95% interval
    held_back        the same of each half with the thresholds that the other half would choose: what to expect
    provenance       where the records came from
    """

    budget: int
    keep: float
    disagreement: float
    rounds: tuple[int, ...]
    thresholds: tuple[float | None, ...]
    fit: dict[str, Any] = field(default_factory=dict)
    held_back: dict[str, Any] = field(default_factory=dict)
    provenance: dict[str, Any] = field(default_factory=dict)

    def rule(self) -> Confident:
        """The rule with these thresholds."""
        return Confident(rounds=self.rounds, thresholds=self.thresholds, keep=self.keep)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready values; `read_calibrations` reads them again."""
        return dict(vars(self)) | {"rounds": list(self.rounds), "thresholds": list(self.thresholds)}


@dataclass(frozen=True)
class Adaptive:
    """As many views as an image needs: 4, then 8, 12, ... up to `budget`, until they support one answer.

    >>> Adaptive(disagreement=0.02).rule(keep=0.3).rounds
    (4, 8, 12, 16, 20, 24, 28, 32, 40, 48, 56, 64)

    disagreement   the accepted rate of answers that differ from those of the full budget. The thresholds are those
                   calibrated for the largest rate that is not above it
    calibration    a file of `viewvote calibrate-stop`; None is the one that ships, made with the embedded model
    """

    budget: int = 64
    disagreement: float = 0.01
    calibration: Path | str | None = None

    def __post_init__(self) -> None:
        if not 0 < self.disagreement < 1:
            raise UsageError(f"disagreement is a rate above 0 and below 1; got {self.disagreement}.")
        if isinstance(self.budget, bool) or not isinstance(self.budget, int) or self.budget < 1:
            raise UsageError(f"the budget of views must be a whole number of at least 1; got {self.budget!r}.")

    def rule(self, keep: float) -> Confident:
        """The calibrated rule for a method that keeps this share of views."""
        known = shipped_calibrations() if self.calibration is None else read_calibrations(Path(self.calibration))
        fitting = [c for c in known if (c.budget, c.keep) == (self.budget, keep)]
        below = [c for c in fitting if c.disagreement <= self.disagreement]
        if below:
            return max(below, key=lambda c: c.disagreement).rule()
        if fitting:
            least = min(c.disagreement for c in fitting)
            raise UsageError(
                f"no thresholds are calibrated for a disagreement of {self.disagreement}; the least is {least}. "
                'Accept that, calibrate on more records (viewvote calibrate-stop), or use stop="exact".'
            )
        pairs = sorted({(c.budget, c.keep) for c in known})
        raise UsageError(
            f"no thresholds are calibrated for {self.budget} views with keep {keep}; known (views, keep): "
            f"{', '.join(map(str, pairs)) or 'none'}. Make them with: viewvote calibrate-stop RUN --keep {keep}"
        )


@lru_cache(maxsize=1)
def shipped_calibrations() -> tuple[Calibration, ...]:
    """Those that ship with the package."""
    return _parse(files(__package__).joinpath(SHIPPED).read_text(encoding="utf-8"), SHIPPED)


def read_calibrations(path: Path) -> tuple[Calibration, ...]:
    """The calibrations in a file of `viewvote calibrate-stop`."""
    try:
        return _parse(path.read_text(encoding="utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read the calibration {path}: {error}.") from error


def _parse(text: str, name: str) -> tuple[Calibration, ...]:
    try:
        rows = json.loads(text)["calibrations"]
        lists = ("rounds", "thresholds")
        found = tuple(Calibration(**(row | {key: tuple(row[key]) for key in lists})) for row in rows)
        for calibration in found:
            calibration.rule()
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{name} is not a file of viewvote calibrate-stop ({error!r}).") from error
    return found
