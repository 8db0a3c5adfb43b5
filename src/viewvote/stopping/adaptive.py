"""`Adaptive`: what a user asks for, and the calibrated thresholds it stands for."""

from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, Literal

from ..checks import MOST_VIEWS, checked_whole
from ..errors import UsageError
from ..fields import NUMBER, SHARE, TABLE, TEXT, Fields, Kind, is_number, list_of, one_of, or_null, whole
from ..reading import parse_json, read_json
from ..registry import unknown_name
from .rules import Confident

SHIPPED = "shipped.json"
Vote = Literal["votes", "anchored"]
"""Which votes thresholds are for: of views alone (ZERO), or with a say of the source view."""
METHOD_OF: Final[dict[Vote, str]] = {"votes": "zero", "anchored": "anchored"}
Level = Literal["strict", "noise"]
STRICT: Final = "strict"
NOISE: Final = "noise"
STRICT_RATE = 0.01


@dataclass(frozen=True)
class Calibration:
    """Thresholds of the Confident rule for one budget, keep, kind of vote and accepted rate of disagreement.

    disagreement     the accepted rate of answers unlike the full budget's
    level            "noise" where that rate is how often two seeds of the full budget differ
    vote, model      the kind of vote, and the model whose records chose them
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
    vote: Vote = "votes"
    model: str | None = None
    level: Level | None = None

    def rule(self) -> Confident:
        """The rule with these thresholds."""
        return Confident(rounds=self.rounds, thresholds=self.thresholds, keep=self.keep)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready values; `read_calibrations` reads them again."""
        return dict(vars(self)) | {"rounds": list(self.rounds), "thresholds": list(self.thresholds)}


@dataclass(frozen=True)
class Adaptive:
    """As many views as an image needs: one, two, three, 4, 6, 8, ... up to `budget`, until they support one answer.

    >>> Adaptive(disagreement="strict").budget
    64

    disagreement   the accepted rate of answers that differ from those of the full budget: "noise" is as often as two
                   seeds of the full budget differ from each other ("strict" where that is not calibrated), "strict"
                   is 1%; or a rate. The thresholds are those calibrated for the largest rate that is not above it
    calibration    a file of `viewvote calibrate-stop`; None is the one that ships
    """

    budget: int = 64
    disagreement: float | str = NOISE
    calibration: Path | str | None = None

    def __post_init__(self) -> None:
        rate = self.disagreement
        if isinstance(rate, str):
            if rate not in (STRICT, NOISE):
                raise unknown_name("level of disagreement", rate, [STRICT, NOISE])
        elif not 0 < rate < 1:
            raise UsageError(f"disagreement is a rate above 0 and below 1, {NOISE!r} or {STRICT!r}; got {rate}.")
        checked_whole(self.budget, name="the budget of views", least=1, most=MOST_VIEWS)

    def rule(self, keep: float, *, vote: Vote = "votes", model: str | None = None) -> Confident:
        """The calibrated rule for a method that keeps this share of views; of this model where it has its own."""
        known = shipped_calibrations() if self.calibration is None else read_calibrations(Path(self.calibration))
        fitting = [c for c in known if (c.budget, c.keep, c.vote) == (self.budget, keep, vote)]
        fitting = [c for c in fitting if c.model == model] or _of_first_model(fitting)
        noisy = [c for c in fitting if c.level == NOISE]
        if self.disagreement == NOISE and noisy:
            return noisy[0].rule()
        asked = STRICT_RATE if isinstance(self.disagreement, str) else self.disagreement
        below = [c for c in fitting if c.disagreement <= asked]
        if below:
            return max(below, key=lambda c: c.disagreement).rule()
        if fitting:
            least = min(c.disagreement for c in fitting)
            raise UsageError(
                f"no thresholds are calibrated for a disagreement of {self.disagreement}; the least is {least}. "
                'Accept that, calibrate on more records (viewvote calibrate-stop), or use stop="exact".'
            )
        there = sorted({f"{METHOD_OF[c.vote]} with {c.budget} views, keep {c.keep:g}" for c in known})
        raise UsageError(
            f"no thresholds are calibrated for method {METHOD_OF[vote]} with {self.budget} views, keep {keep:g}; known "
            f"are those for {'; '.join(there) or 'none'}. "
            f"Make them with: viewvote calibrate-stop RUN --method {METHOD_OF[vote]} --keep {keep}"
        )

    def is_calibrated(self, keep: float, *, vote: Vote = "votes") -> bool:
        """Whether `rule` finds thresholds among those that ship."""
        return any((c.budget, c.keep, c.vote) == (self.budget, keep, vote) for c in shipped_calibrations())


def _of_first_model(known: list[Calibration]) -> list[Calibration]:
    """Those of the model that the file names first: what a model without thresholds of its own gets."""
    return [one for one in known if one.model == known[0].model]


@lru_cache(maxsize=1)
def shipped_calibrations() -> tuple[Calibration, ...]:
    """Those that ship with the package."""
    text = files(__package__).joinpath(SHIPPED).read_text(encoding="utf-8")
    return _parse(parse_json(text, source=SHIPPED, error=UsageError), SHIPPED)


def read_calibrations(path: Path) -> tuple[Calibration, ...]:
    """The calibrations in a file of `viewvote calibrate-stop`."""
    return _parse(read_json(path, error=UsageError, what="the calibration"), str(path))


def _parse(data: object, name: str) -> tuple[Calibration, ...]:
    return tuple(map(_calibration, Fields(data, name, error=UsageError).objects("calibrations")))


_KINDS: dict[str, Kind[Any]] = {
    "budget": whole(1, most=MOST_VIEWS),
    "keep": SHARE,
    "disagreement": Kind("a rate from 0 to below 1", lambda value: is_number(value) and 0 <= value < 1, float),
    "rounds": list_of(whole(1)),
    "thresholds": list_of(or_null(NUMBER)),
    **dict.fromkeys(("fit", "held_back", "provenance"), TABLE),
    "vote": one_of(Vote),
    "model": or_null(TEXT),
    "level": or_null(one_of(Level)),
}
_NEEDED = ("budget", "keep", "disagreement", "rounds", "thresholds")


def _calibration(read: Fields) -> Calibration:
    """The calibration in one object of the file; its rounds must lead to the budget, or an image would never end."""
    read.check_keys(_KINDS)
    found = {name: read(name, kind) for name, kind in _KINDS.items() if name in _NEEDED or name in read.data}
    rounds, budget = found["rounds"], found["budget"]
    if not rounds or rounds[-1] != budget or any(a >= b for a, b in pairwise(rounds)):
        raise read.wrong("rounds", f"ascending numbers of views, the last of them the budget, {budget}")
    if len(found["thresholds"]) != len(rounds) - 1:
        raise read.wrong("thresholds", f"{len(rounds) - 1} of them, one for each round but the last")
    return Calibration(**found)
