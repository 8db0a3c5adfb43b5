"""The thresholds of the Confident rule: fewest views at an accepted rate of answers unlike the full budget's."""

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, inf, log, log1p, log2

import numpy as np

from ..arrays import Float64, Int64

SURE = (None, 0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.65, 0.6, 0.55, 0.5)
"""The source view's probability that ends it alone; None: it never does."""


@dataclass(frozen=True)
class Grid:
    """The thresholds that are tried: what is needed after 4 views, and by how much less with every doubling.

    starts  above `most` no image stops
    least   no threshold is lower: a leader with less is not one to trust
    """

    starts: tuple[float, ...]
    falls: tuple[float, ...]
    least: float
    most: float


SUPPORT = Grid(tuple(i / 40 for i in range(28, 65)), tuple(i / 50 for i in range(17)), least=0.5, most=1.0)
"""Of the votes alone: shares, 0.7 to 1.6, and falls of 0 to 0.32."""

LEAD = Grid(tuple(i / 20 for i in range(6, 41)), tuple(i / 20 for i in range(13)), least=0.1, most=inf)
"""Of votes with a say, whose leads may be above 1."""

DOUBT = 0.1
"""How likely a calibration may be to accept thresholds whose true rate is above the asked one."""

Thresholds = tuple[float | None, ...]


def choose_thresholds(
    support: Float64, answers: Int64, rounds: tuple[int, ...], allowed: Callable[[Int64], bool], *, grid: Grid = SUPPORT
) -> Thresholds | None:
    """Of all falling thresholds those of the fewest views that are `allowed`, which gets the round each record ends in.

    Rows are records and columns rounds. Three numbers make all thresholds of a rule, so that there is little to fit to
    chance: with one free threshold per round the rate on other images was twice that of the fitted ones. None where
    nothing but all views is allowed.
    """
    n = len(support)
    wrong, views = answers != answers[:, -1:], np.array(rounds)
    best: tuple[int, int] | None = None
    chosen: Thresholds | None = None
    for later in {falling(rounds, start, fall, grid=grid): None for start in grid.starts for fall in grid.falls}:
        afterwards = stopped_at(support, later)
        for first in SURE if rounds[0] == 1 else (None,):
            ended = afterwards if first is None else np.where(support[:, 0] >= first, 0, afterwards)
            cost = int(views[ended].sum()), int(wrong[np.arange(n), ended].sum())
            if (best is None or cost < best) and allowed(ended):
                best, chosen = cost, (later if first is None else (first, *later[1:]))
    return chosen


def falling(
    rounds: tuple[int, ...], start: float, fall: float, *, first: float | None = None, grid: Grid = SUPPORT
) -> Thresholds:
    """start - fall log2(n / 4) after n views, at least the grid's least, and None above its most; `first` after one."""
    needed = [round(max(grid.least, start - fall * log2(n / 4)), 3) for n in rounds[:-1]]
    found = [None if threshold > grid.most else threshold for threshold in needed]
    return (first, *found[1:]) if rounds[0] == 1 else tuple(found)


def stopped_at(support: Float64, thresholds: Thresholds) -> Int64:
    """The round in which each record stops: the first whose threshold is reached, or the last."""
    stops = support >= np.array([inf if threshold is None else threshold for threshold in thresholds] + [-inf])
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
