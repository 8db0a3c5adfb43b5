"""The Confident rule replayed on records: what it would have cost, where it would have differed, and its thresholds."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import product
from math import exp, log, log1p
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..columns import read_columns
from ..errors import UsageError
from ..stopping.adaptive import Adaptive, Calibration
from ..stopping.rules import Exact, doubling_rounds, leader_share
from ..types import Bool, Int64
from .accuracy import Rate, rate_of
from .rescore import Setting, rescore

LEAST_SHARE = 0.5
"""No threshold is lower: a leader without half of the confident views is not one to trust."""

DOUBT = 0.1
"""How likely a calibration may be to accept thresholds whose true rate is above the asked one."""

Thresholds = tuple[float | None, ...]


@dataclass(frozen=True)
class Replay:
    """What each record's first views say after each round."""

    keys: tuple[str, ...]
    target: Int64  # (records,)
    keep: float
    rounds: tuple[int, ...]
    answers: Int64  # (records, rounds), of ZERO with greedy ties; the last is the full budget's
    shares: NDArray[np.float64]  # (records, rounds): `leader_share`

    def take(self, rows: Bool) -> "Replay":
        """The records where `rows` is True."""
        keys = tuple(key for key, chosen in zip(self.keys, rows.tolist(), strict=True) if chosen)
        return Replay(keys, self.target[rows], self.keep, self.rounds, self.answers[rows], self.shares[rows])


@dataclass(frozen=True)
class Outcome:
    """How a rule did on records: views used on average, agreement with the full budget, accuracy of both."""

    views: float
    agreement: Rate
    accuracy: Rate
    full_accuracy: Rate

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready values."""
        return {
            "n": self.agreement.n,
            "views_used": round(self.views, 2),
            "agreement": round(self.agreement.value, 5),
            "agreement_interval": [round(self.agreement.low, 5), round(self.agreement.high, 5)],
            "accuracy": round(self.accuracy.value, 5),
            "full_accuracy": round(self.full_accuracy.value, 5),
        }


def replay(path: Path, *, keep: float = 0.3, budget: int | None = None) -> Replay:
    """The rounds of every usable record of a file; the budget is the number of views it holds, if not given."""
    columns = read_columns(path)
    columns = columns.take(columns.usable)
    if not len(columns):
        raise UsageError(f"{path} holds no usable record.")
    if (columns.teacher_labels >= 0).any():
        raise UsageError(
            f"{path} is of a cascade, whose teacher was asked about some views only; calibrate on a run of its student."
        )
    seen = int(columns.views_used.min())
    budget = seen if budget is None else budget
    if budget > seen or seen < int(columns.views_used.max()):
        raise UsageError(f"{path} holds records of {seen} views or more; a replay needs all {budget} views of each.")
    rounds = doubling_rounds(budget)
    answers = rescore(path, [Setting(views=n, keep=keep) for n in rounds])
    shares = [
        [leader_share(labels[:n], entropy[:n], keep=keep) for n in rounds]
        for labels, entropy in zip(columns.labels, columns.entropy, strict=True)
    ]
    found = np.stack([answer.index[answer.usable] for answer in answers], axis=1)
    return Replay(columns.keys, columns.target, keep, rounds, found, np.array(shares))


def joined(replays: Sequence[Replay]) -> Replay:
    """The records of several files with the same rounds."""
    first = replays[0]
    if any(one.rounds != first.rounds for one in replays):
        raise UsageError(f"the runs have different numbers of views: {sorted({one.rounds[-1] for one in replays})}.")
    return Replay(
        keys=tuple(key for one in replays for key in one.keys),
        target=np.concatenate([one.target for one in replays]),
        keep=first.keep,
        rounds=first.rounds,
        answers=np.concatenate([one.answers for one in replays]),
        shares=np.concatenate([one.shares for one in replays]),
    )


def outcome(replayed: Replay, thresholds: Thresholds) -> Outcome:
    """What the Confident rule with these thresholds would have done."""
    stops = np.ones_like(replayed.shares, dtype=np.bool_)
    for i, threshold in enumerate(thresholds):
        stops[:, i] = False if threshold is None else replayed.shares[:, i] >= threshold
    ended = stops.argmax(axis=1)  # the first round that stops; the last always does
    answers = replayed.answers[np.arange(len(ended)), ended]
    full = replayed.answers[:, -1]
    everyone = np.ones(len(full), dtype=np.bool_)
    return Outcome(
        views=float(np.array(replayed.rounds)[ended].mean()),
        agreement=rate_of(answers == full, everyone),
        accuracy=rate_of(answers == replayed.target, everyone),
        full_accuracy=rate_of(full == replayed.target, everyone),
    )


def most_differing(n: int, disagreement: float) -> int:
    """The most differing answers among `n` that speak for a rate below `disagreement`; -1 where none would.

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


def choose_thresholds(replayed: Replay, disagreement: float) -> Thresholds:
    """The thresholds that use the fewest views with at most `most_differing` answers unlike the full budget's."""
    n = len(replayed.keys)
    allowed = most_differing(n, disagreement)
    if allowed < 0:
        needed = int(np.ceil(np.log(DOUBT) / np.log1p(-disagreement)))
        raise UsageError(
            f"{n} records cannot show a disagreement below {disagreement}; the half that is fitted needs at least "
            f"{needed}, so give about {2 * needed} in all."
        )
    wrong = replayed.answers[:, :-1] != replayed.answers[:, -1:]
    # Shares have few levels, so most records are alike: count each kind once.
    kinds, counts = np.unique(np.hstack([replayed.shares[:, :-1], wrong]), axis=0, return_counts=True)
    shares, wrong = np.hsplit(kinds, 2)
    levels = [[*sorted({s for s in column.tolist() if s >= LEAST_SHARE}), None] for column in shares.T]
    best: tuple[float, float, Thresholds] | None = None
    for thresholds in product(*levels):
        going = np.ones(len(kinds), dtype=np.bool_)
        views = differing = 0.0
        for i, threshold in enumerate(thresholds):
            stops = going & (shares[:, i] >= threshold) if threshold is not None else np.zeros_like(going)
            views += replayed.rounds[i] * counts[stops].sum()
            differing += counts[stops & (wrong[:, i] > 0)].sum()
            going &= ~stops
        views += replayed.rounds[-1] * counts[going].sum()
        if differing <= allowed and (best is None or (views, differing) < best[:2]):
            best = views, differing, thresholds
    return best[2] if best else (None,) * (len(replayed.rounds) - 1)


def calibrate(replayed: Replay, *, disagreement: float, provenance: dict[str, Any]) -> Calibration:
    """Thresholds chosen on one half of the records and measured on the other; a key's hash says which half."""
    Adaptive(disagreement=disagreement)  # refuses a rate that nobody could ask for later
    fitted = np.array([blake2b(key.encode(), digest_size=1).digest()[0] % 2 == 0 for key in replayed.keys])
    fit, held_back = replayed.take(fitted), replayed.take(~fitted)
    thresholds = choose_thresholds(fit, disagreement)
    if not held_back.keys:
        raise UsageError(f"none of the {len(replayed.keys)} records is held back to measure the rule on; give more.")
    return Calibration(
        budget=replayed.rounds[-1],
        keep=replayed.keep,
        disagreement=disagreement,
        rounds=replayed.rounds,
        thresholds=thresholds,
        fit=outcome(fit, thresholds).to_dict(),
        held_back=outcome(held_back, thresholds).to_dict(),
        provenance=provenance,
    )


def exact_views(path: Path, *, keep: float = 0.3) -> float:
    """The views that the Exact rule would have used, on average."""
    columns = read_columns(path)
    columns = columns.take(columns.usable)
    rule = Exact(int(columns.views_used.max()), keep)
    used = [
        next((n for n in rule.rounds[:-1] if rule.settled(labels[:n], entropy[:n])), rule.budget)
        for labels, entropy in zip(columns.labels, columns.entropy, strict=True)
    ]
    return float(np.mean(used))
