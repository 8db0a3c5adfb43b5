"""The thresholds of the Confident rule: fewest views at an accepted rate of answers unlike the full budget's."""

from math import exp, log, log1p, log2

import numpy as np

from ..arrays import Float64, Int64
from ..errors import UsageError

STARTS = tuple(i / 40 for i in range(28, 65))
"""The support needed after 4 views, 0.7 to 1.6; above 1 no image stops there."""

FALLS = tuple(i / 50 for i in range(17))
"""By how much less is needed with every doubling of the views, 0 to 0.32."""

LEAST = 0.5
"""No threshold is lower: a leader with less is not one to trust."""

DOUBT = 0.1
"""How likely a calibration may be to accept thresholds whose true rate is above the asked one."""

Thresholds = tuple[float | None, ...]


def choose_thresholds(support: Float64, answers: Int64, rounds: tuple[int, ...], disagreement: float) -> Thresholds:
    """Of all falling thresholds those of the fewest views with at most `most_differing` answers unlike the budget's.

    Rows are records and columns rounds. Two numbers make all thresholds of a rule, so that there is little to fit to
    chance: with one free threshold per round the rate on other images was twice that of the fitted ones.
    """
    n = len(support)
    allowed = most_differing(n, disagreement)
    if allowed < 0:
        needed = int(np.ceil(np.log(DOUBT) / np.log1p(-disagreement)))
        raise UsageError(
            f"{n} records cannot show a disagreement below {disagreement}; each half of them needs at least {needed}, "
            f"so give about {2 * needed} in all."
        )
    wrong, views = answers != answers[:, -1:], np.array(rounds)
    best: tuple[int, int] | None = None
    chosen: Thresholds = (None,) * (len(rounds) - 1)
    for thresholds in {falling(rounds, start, fall): None for start in STARTS for fall in FALLS}:
        ended = stopped_at(support, thresholds)
        differing = int(wrong[np.arange(n), ended].sum())
        cost = int(views[ended].sum()), differing
        if differing <= allowed and (best is None or cost < best):
            best, chosen = cost, thresholds
    return chosen


def falling(rounds: tuple[int, ...], start: float, fall: float) -> Thresholds:
    """start - fall log2(n / 4) after n views, at least LEAST, and None above 1."""
    needed = [round(max(LEAST, start - fall * log2(n / 4)), 3) for n in rounds[:-1]]
    return tuple(None if threshold > 1 else threshold for threshold in needed)


def stopped_at(support: Float64, thresholds: Thresholds) -> Int64:
    """The round in which each record stops: the first whose threshold is reached, or the last."""
    stops = support >= np.array([np.inf if threshold is None else threshold for threshold in (*thresholds, 0.0)])
    return np.asarray(stops.argmax(axis=1))


def most_differing(n: int, disagreement: float) -> int:
    """The most differing answers among `n` that support a rate below `disagreement`; -1 where none would.

    If the rate were higher, so few would be seen in at most one of ten samples (a binomial tail of DOUBT).
    """
    # As logarithms: with some thousand records the chance of no difference is below the smallest float.
    log_chance, tail = n * log1p(-disagreement), 0.0
    for differing in range(n):
        tail += exp(log_chance)
        if tail > DOUBT:
            return differing - 1
        log_chance += log((n - differing) / (differing + 1)) + log(disagreement) - log1p(-disagreement)
    return n - 1  # that all differ is never unlikely enough: the whole tail is 1
