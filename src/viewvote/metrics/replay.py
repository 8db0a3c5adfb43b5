"""The Confident rule replayed on records: what it would have cost, where it would have differed, and its thresholds."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import UsageError
from ..prediction import Bool, Int64
from ..records.columns import read_columns
from ..stopping.adaptive import Adaptive, Calibration
from ..stopping.rules import Exact, adaptive_rounds, leader_support
from ..stopping.thresholds import Thresholds, choose_thresholds, stopped_at
from ..vote import rank_by_confidence
from .accuracy import Rate, rate_of
from .rescore import Setting, rescore


@dataclass(frozen=True)
class Replay:
    """What each record's first views say after each round."""

    keys: tuple[str, ...]
    target: Int64  # (records,)
    keep: float
    rounds: tuple[int, ...]
    answers: Int64  # (records, rounds), of ZERO with greedy ties; the last is the full budget's
    support: NDArray[np.float64]  # (records, rounds): `leader_support`

    def take(self, rows: Bool) -> "Replay":
        """The records where `rows` is True."""
        keys = tuple(key for key, chosen in zip(self.keys, rows.tolist(), strict=True) if chosen)
        return Replay(keys, self.target[rows], self.keep, self.rounds, self.answers[rows], self.support[rows])


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
    rounds = adaptive_rounds(budget)
    answers = rescore(path, [Setting(views=n, keep=keep) for n in rounds])
    support = [
        [leader_support(labels[:n], rank_by_confidence(entropy[:n]), keep=keep) for n in rounds]
        for labels, entropy in zip(columns.labels, columns.entropy, strict=True)
    ]
    found = np.stack([answer.index[answer.usable] for answer in answers], axis=1)
    return Replay(columns.keys, columns.target, keep, rounds, found, np.array(support))


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


def calibrate(replayed: Replay, *, disagreement: float, provenance: dict[str, Any]) -> Calibration:
    """Thresholds chosen on all records, and what to expect of them: each half measures those the other half chooses.

    A key's hash says which half.
    """
    Adaptive(disagreement=disagreement)  # refuses a rate that nobody could ask for later
    first = np.array([blake2b(key.encode(), digest_size=1).digest()[0] % 2 == 0 for key in replayed.keys])
    ended = np.zeros(len(first), dtype=np.int64)
    for half in (first, ~first):
        ended[~half] = stopped_at(replayed.support[~half], _chosen(replayed.take(half), disagreement))
    thresholds = _chosen(replayed, disagreement)
    return Calibration(
        budget=replayed.rounds[-1],
        keep=replayed.keep,
        disagreement=disagreement,
        rounds=replayed.rounds,
        thresholds=thresholds,
        fit=outcome(replayed, thresholds).to_dict(),
        held_back=_outcome(replayed, ended).to_dict(),
        provenance=provenance,
    )


def _chosen(replayed: Replay, disagreement: float) -> Thresholds:
    return choose_thresholds(replayed.support, replayed.answers, replayed.rounds, disagreement)


def exact_views(path: Path, *, keep: float = 0.3) -> float:
    """The views that the Exact rule would have used, on average."""
    columns = read_columns(path)
    columns = columns.take(columns.usable)
    rule = Exact(int(columns.views_used.max()), keep)
    used = [
        next((n for n in rule.rounds[:-1] if rule.settled(labels[:n], rank_by_confidence(entropy[:n]))), rule.budget)
        for labels, entropy in zip(columns.labels, columns.entropy, strict=True)
    ]
    return float(np.mean(used))
