"""How many views and when to stop, as a caller gives them, checked: a budget and a rule."""

from typing import Final, Literal

from ..checks import checked_whole
from ..errors import UsageError
from ..methods import Method, VotingMethod
from ..registry import unknown_name
from .adaptive import Adaptive
from .rules import Exact, StoppingRule

ADAPTIVE: Final = "adaptive"
EXACT: Final = "exact"


def asked_views(
    views: int | str, *, stop: str | None = None, disagreement: float | None = None
) -> tuple[int | Adaptive, Literal["exact"] | None]:
    """A Classifier's `n_views` and `stop`: views is a number or "adaptive", stop "exact" or a calibration's file."""
    if isinstance(views, str) and views != ADAPTIVE:
        raise UsageError(f"views must be a number, or {ADAPTIVE}; got {views!r}.")
    budget = views if isinstance(views, int) else Adaptive().budget
    if stop == EXACT:
        if disagreement is not None:
            raise UsageError("stop exact never disagrees with the full budget; leave disagreement out.")
        return budget, EXACT
    if stop is None and isinstance(views, int):
        if disagreement is not None:
            raise UsageError("disagreement belongs to adaptive views: with a number, all of them are looked at.")
        return views, None
    given = {} if disagreement is None else {"disagreement": disagreement}
    return Adaptive(budget=budget, calibration=stop, **given), None


def checked_budget(n_views: int | str | Adaptive) -> int:
    """How many views an image may cost at most."""
    if isinstance(n_views, Adaptive):
        return n_views.budget
    if n_views == ADAPTIVE:
        return Adaptive().budget
    return checked_whole(n_views, name="n_views", least=1, instead=f', or "{ADAPTIVE}"')


def checked_stop(n_views: int | str | Adaptive, stop: str | None, *, method: Method) -> StoppingRule | None:
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
        return adaptive.rule(method.keep)
    if isinstance(n_views, Adaptive):
        raise UsageError('an Adaptive object and stop="exact" are two different rules; give one of them.')
    if not method.whole_votes:
        raise UsageError('stop="exact" counts whole votes; leave zero_temperature and compat at their defaults.')
    return Exact(budget, method.keep, has_say=method.has_say)
