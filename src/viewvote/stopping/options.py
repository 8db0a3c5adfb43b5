"""How many views and when to stop, as a caller gives them, checked: a budget and a rule."""

from typing import Final, Literal

from ..checks import MOST_VIEWS, checked_whole
from ..errors import UsageError
from ..methods import Method, VotingMethod
from ..registry import unknown_name
from .adaptive import NOISE, STRICT, Adaptive, Vote
from .rules import Exact, StoppingRule

ADAPTIVE: Final = "adaptive"
AUTO: Final = "auto"
EXACT: Final = "exact"
ALL: Final = 64
"""The paper's views, where not as many as an image needs."""

Views = int | Literal["auto", "adaptive"] | Adaptive


def asked_views(
    views: int | str, *, stop: str | None = None, disagreement: float | str | None = None
) -> tuple[int | Adaptive | Literal["auto"], Literal["exact"] | None]:
    """A Classifier's `n_views` and `stop`, from a number, "auto" or "adaptive", and "exact" or a calibration's file.

    A disagreement of "exact" is the stop of that name.
    """
    if isinstance(views, str) and views not in (AUTO, ADAPTIVE):
        raise UsageError(f"views must be a number, {ADAPTIVE} or {AUTO}; got {views!r}.")
    if disagreement == EXACT and stop is None:
        stop, disagreement = EXACT, None
    if views == AUTO and stop is None and disagreement is None:
        return AUTO, None
    budget = views if isinstance(views, int) else Adaptive().budget
    if stop == EXACT:
        if disagreement is not None:
            raise UsageError('stop="exact" never disagrees with the full budget; leave out `disagreement`.')
        return budget, EXACT
    if stop is None and isinstance(views, int):
        if disagreement is not None:
            raise UsageError("disagreement belongs to adaptive views: with a number, all of them are looked at.")
        return views, None
    if disagreement == EXACT:
        raise UsageError(
            'disagreement="exact" reads no thresholds; leave out the file of `stop`, or give another rate.'
        )
    asked = Adaptive().disagreement if disagreement is None else disagreement
    return Adaptive(budget=budget, calibration=stop, disagreement=asked), None


def read_disagreement(text: str) -> float | str:
    """The rate or the level that a text names."""
    for level in (EXACT, STRICT, NOISE):
        if text == level:
            return level
    try:
        return float(text)
    except ValueError:
        raise UsageError(
            f"disagreement is a rate such as 0.01, or {EXACT}, {STRICT} or {NOISE}; got {text!r}."
        ) from None


def settled_views(n_views: Views, *, stop: str | None, method: Method) -> int | Literal["adaptive"] | Adaptive:
    """The views to look at where "auto" was asked: as many as an image needs, where votes and thresholds allow it."""
    if n_views != AUTO:
        return n_views
    if stop is not None or not isinstance(method, VotingMethod):
        return ALL
    return ADAPTIVE if Adaptive().is_calibrated(method.keep, vote=vote_of(method)) else ALL


def vote_of(method: VotingMethod) -> Vote:
    """Which thresholds are for the method's votes."""
    return "anchored" if method.has_say else "votes"


def checked_budget(n_views: int | str | Adaptive) -> int:
    """How many views an image may cost at most."""
    if isinstance(n_views, Adaptive):
        return n_views.budget
    if n_views == ADAPTIVE:
        return Adaptive().budget
    return checked_whole(n_views, name="n_views", least=1, most=MOST_VIEWS, instead=f', or "{ADAPTIVE}"')


def checked_stop(
    n_views: int | str | Adaptive, stop: str | None, *, method: Method, model: str | None = None
) -> StoppingRule | None:
    """The rule that may end an image's rounds of views; None where all are always looked at."""
    budget = checked_budget(n_views)
    if stop not in (None, EXACT):
        raise unknown_name("stopping rule", stop, [EXACT])
    if stop is None and n_views != ADAPTIVE and not isinstance(n_views, Adaptive):
        return None
    if not isinstance(method, VotingMethod):
        raise UsageError(f"method {method.name!r} does not vote, so no rule can stop it early; give a number of views.")
    if stop is None:
        adaptive = n_views if isinstance(n_views, Adaptive) else Adaptive()
        return adaptive.rule(method.keep, vote=vote_of(method), model=model)
    if isinstance(n_views, Adaptive):
        raise UsageError('an Adaptive object and stop="exact" are two different rules; give one of them.')
    if not method.whole_votes:
        raise UsageError('stop="exact" counts whole votes; leave zero_temperature and compat at their defaults.')
    return Exact(budget, method.keep, has_say=method.has_say)
