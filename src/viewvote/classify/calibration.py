"""The calibration of a probability: what a model ships with, and the file that `viewvote calibrate` writes."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

from ..encoders import Encoder
from ..encoders.base import Calibrated
from ..errors import UsageError
from ..fields import NUMBER, TABLE, TEXT, Fields, shown
from ..methods import Method, VotingMethod
from ..probability import ProbabilityFit
from ..reading import read_json
from .background import MarginFit

F = TypeVar("F", ProbabilityFit, MarginFit)

FORMAT = "viewvote-calibration-1"
MOST = 0.99
"""The largest probability of a vote with a model that nobody has fitted: one view that is sure is not proof."""
VOTE = "vote"
"""The name of a vote's numbers in a model's calibration; those of another method have the method's name."""


@dataclass(frozen=True)
class Calibration:
    """A fit of the probability of one method's answers with one model, and what was measured of it."""

    method: str
    model: str
    fit: ProbabilityFit
    measured: Mapping[str, Any] = field(default_factory=dict)

    def to_text(self) -> str:
        """The JSON that `read_calibration` reads."""
        facts = {"format": FORMAT, "method": self.method, "model": self.model, **asdict(self.fit)}
        return json.dumps(facts | {"measured": dict(self.measured)}, indent=1) + "\n"


def read_calibration(path: Path) -> Calibration:
    """The calibration in a file of `viewvote calibrate`."""
    data = read_json(path, error=UsageError, what="the calibration")
    if data.get("format") != FORMAT:
        raise UsageError(
            f"{path} is no file of `viewvote calibrate`: format is {shown(data.get('format'))}, not {FORMAT!r}."
        )
    read = Fields(data, str(path), error=UsageError)
    fit, measured = _fit(data, ProbabilityFit, source=str(path)), read.optional("measured", TABLE) or {}
    return Calibration(read("method", TEXT), read("model", TEXT), fit, measured)


def probability_fit(encoder: Encoder, method: Method, given: str | Path | ProbabilityFit | None) -> ProbabilityFit:
    """The fit to use: the one given, else what the model ships with for the method, else none.

    Raises UsageError where a file was fitted for another model or method: its numbers would mean nothing.
    """
    if isinstance(given, ProbabilityFit):
        return given
    if given is not None:
        found = read_calibration(Path(given))
        for what, fitted, used in (("model", found.model, encoder.model_id), ("method", found.method, method.name)):
            if fitted != used:
                raise UsageError(
                    f"{given} was fitted for the {what} {fitted!r}, not for {used!r}; "
                    "run `viewvote calibrate` on records of this one, or leave the calibration out."
                )
        return found.fit
    votes = isinstance(method, VotingMethod)
    shipped = _shipped(encoder, VOTE if votes else method.name, ProbabilityFit)
    return shipped or ProbabilityFit(most=MOST if votes else 1.0)


def margin_fit(encoder: Encoder, name: str, *, otherwise: MarginFit) -> MarginFit:
    """The fit of a margin over the background that a model ships with under this name."""
    return _shipped(encoder, name, MarginFit) or otherwise


def _shipped(encoder: Encoder, name: str, kind: type[F]) -> F | None:
    known = encoder.calibration if isinstance(encoder, Calibrated) else {}
    return _fit(known[name], kind, source=encoder.model_id) if name in known else None


def _fit(data: Mapping[str, Any], kind: type[F], *, source: str) -> F:
    read = Fields(data, source, error=UsageError)
    values = {each.name: read(each.name, NUMBER) for each in fields(kind)}
    try:
        return kind(**values)
    except UsageError as error:
        raise UsageError(f"{source}: {error}") from error
