"""Calibration of the Confident rule: which thresholds to use, and what to expect of them on other images."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np

from ..arrays import Bool, Float64, Int64
from ..errors import UsageError
from ..rates import Rate, rate_of
from .adaptive import NOISE, Adaptive, Calibration, Level, Vote
from .thresholds import DOUBT, LEAD, SUPPORT, Thresholds, choose_thresholds, most_differing, stopped_at


@dataclass(frozen=True)
class Replay:
    """What the rule sees of each record after each round: the answer of the views so far, and its support."""

    keys: tuple[str, ...]
    target: Int64  # (records,)
    keep: float
    rounds: tuple[int, ...]
    answers: Int64  # (records, rounds), with greedy ties; the last is the full budget's
    support: Float64  # (records, rounds): what thresholds are compared with (`rules.standing`)
    vote: Vote = "votes"

    def take(self, rows: Bool) -> "Replay":
        """The records where `rows` is True."""
        keys = tuple(key for key, chosen in zip(self.keys, rows.tolist(), strict=True) if chosen)
        return Replay(
            keys, self.target[rows], self.keep, self.rounds, self.answers[rows], self.support[rows], self.vote
        )


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
        support=np.concatenate([one.support for one in replays]),
        vote=first.vote,
    )


def outcome(replayed: Replay, thresholds: Thresholds) -> Outcome:
    """What the Confident rule with these thresholds would have done."""
    return _outcome(replayed, stopped_at(replayed.support, thresholds))


def _outcome(replayed: Replay, ended: Int64) -> Outcome:
    """What stopping in these rounds would have done."""
    answers = replayed.answers[np.arange(len(ended)), ended]
    full = replayed.answers[:, -1]
    everyone = np.ones(len(full), dtype=np.bool_)
    return Outcome(
        views=float(np.array(replayed.rounds)[ended].mean()),
        agreement=rate_of(answers == full, everyone),
        accuracy=rate_of(answers == replayed.target, everyone),
        full_accuracy=rate_of(full == replayed.target, everyone),
    )


def seed_noise(replays: Sequence[Replay]) -> Rate:
    """How often the full budget's answer changes with the seed: over all pairs of runs, of the images they share."""
    differs: list[bool] = []
    for i, one in enumerate(replays):
        full = dict(zip(one.keys, one.answers[:, -1].tolist(), strict=True))
        for other in replays[i + 1 :]:
            pairs = zip(other.keys, other.answers[:, -1].tolist(), strict=True)
            differs += [full[key] != answer for key, answer in pairs if key in full]
    if not differs:
        raise UsageError(
            "how often seeds differ needs two runs of the same images with other seeds: "
            "viewvote eval ... --seed 0,1 makes them."
        )
    return rate_of(np.array(differs), np.ones(len(differs), dtype=np.bool_))


def calibrate(
    replayed: Replay,
    *,
    disagreement: float,
    provenance: dict[str, Any],
    level: Level | None = None,
    model: str | None = None,
) -> Calibration:
    """Thresholds chosen on all records, and what to expect of them: each half measures those the other half chooses.

    A key's hash decides which half, so that two seeds of an image are in the same.
    """
    Adaptive(disagreement=disagreement)  # refuses a rate that nobody could ask for later
    first = np.array([blake2b(key.encode(), digest_size=1).digest()[0] % 2 == 0 for key in replayed.keys])
    ended = np.zeros(len(first), dtype=np.int64)
    for half in (first, ~first):
        ended[~half] = stopped_at(replayed.support[~half], _chosen(replayed.take(half), disagreement, level))
    thresholds = _chosen(replayed, disagreement, level)
    return Calibration(
        budget=replayed.rounds[-1],
        keep=replayed.keep,
        disagreement=disagreement,
        rounds=replayed.rounds,
        thresholds=thresholds,
        fit=outcome(replayed, thresholds).to_dict(),
        held_back=_outcome(replayed, ended).to_dict(),
        provenance=provenance,
        vote=replayed.vote,
        model=model,
        level=level,
    )


MOST_LOST = 0.005
"""By how much the accuracy may be below that of all views, on the records that choose the thresholds."""


def _chosen(replayed: Replay, disagreement: float, level: Level | None) -> Thresholds:
    """The thresholds of the fewest views.

    Those with so few differing answers that a higher rate is unlikely (`most_differing`); for the level "noise" also
    those that lose no accuracy to speak of, since at its rate they well could.
    """
    n, full, right = len(replayed.keys), replayed.answers[:, -1], replayed.target
    most = most_differing(n, disagreement)
    if most < 0:
        needed = int(np.ceil(np.log(DOUBT) / np.log1p(-disagreement)))
        raise UsageError(
            f"{n} records cannot show a disagreement below {disagreement}; each half of them needs at least {needed}, "
            f"so give about {2 * needed} in all."
        )

    def allowed(ended: Int64) -> bool:
        answers = replayed.answers[np.arange(n), ended]
        lost = np.count_nonzero(full == right) - np.count_nonzero(answers == right)
        return bool(np.count_nonzero(answers != full) <= most and (level != NOISE or lost <= MOST_LOST * n))

    grid = SUPPORT if replayed.vote == "votes" else LEAD
    chosen = choose_thresholds(replayed.support, replayed.answers, replayed.rounds, allowed, grid=grid)
    return (None,) * (len(replayed.rounds) - 1) if chosen is None else chosen
