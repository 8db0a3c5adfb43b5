"""The stopping rules replayed on records: the rounds that an image would have had, from the views recorded of it."""

from pathlib import Path

import numpy as np

from ..errors import UsageError
from ..records.columns import Columns, read_columns
from ..stopping.adaptive import Vote
from ..stopping.calibrate import Replay
from ..stopping.rules import Exact, adaptive_rounds, standing
from ..vote import rank_by_confidence
from .anchored import source_probabilities
from .rescore import Setting, rescore


def replay(path: Path, *, keep: float = 0.3, budget: int | None = None, weight: float | None = None) -> Replay:
    """The rounds of every usable record of a file; the budget is the number of views it holds, if not given.

    With a weight, of the anchored vote in which the source view has that much say; else of the votes alone.
    """
    columns = read_columns(path, evidence=weight is not None)
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
    answers = rescore(path, [Setting(views=n, keep=keep, weight=weight) for n in rounds])
    support = [_support(columns, i, rounds, keep=keep, weight=weight) for i in range(len(columns))]
    found = np.stack([answer.index[answer.usable] for answer in answers], axis=1)
    vote: Vote = "votes" if weight is None else "anchored"
    return Replay(columns.keys, columns.target, keep, rounds, found, np.array(support), vote)


def _support(columns: Columns, i: int, rounds: tuple[int, ...], *, keep: float, weight: float | None) -> list[float]:
    """What thresholds are compared with after each round of one record."""
    labels, say = columns.labels[i], None
    if weight is not None:
        classes, logits = columns.evidence[i].logits()
        labels = columns.evidence[i].positions(labels, among=classes)
        say = weight * source_probabilities(logits[0], float(columns.source_probability[i]))
    sure, entropy = float(columns.source_probability[i]), columns.entropy[i]
    return [standing(labels[:n], rank_by_confidence(entropy[:n]), keep=keep, say=say, sure=sure) for n in rounds]


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
