"""The answers under other settings from the records alone: zero-shot, any keep, any number of views, any tie rule."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path

import numpy as np

from ..arrays import Bool, Float32, Int64
from ..errors import UsageError
from ..records.columns import Columns, column_pieces
from ..registry import unknown_name
from ..vote import TIE_RULES, break_tie, count_kept, rank_by_confidence
from .anchored import RankedVotes, anchored_answer, check_anchored

GROUP_RULES = ("group-marginal", "group-logits")


@dataclass(frozen=True)
class Setting:
    """How a vote is counted: the first `views` views, the share `keep` of them, ties by `tie`.

    With a `weight` it is the anchored vote, in which the source view has that much say.
    """

    views: int
    keep: float = 0.3
    tie: str = "greedy"
    weight: float | None = None

    def __post_init__(self) -> None:
        if self.views < 1:
            raise UsageError(f"views must be at least 1; got {self.views}.")
        count_kept(self.views, self.keep)
        if self.tie not in TIE_RULES:
            raise unknown_name("tie rule", self.tie, TIE_RULES)
        if self.weight is not None and not (isfinite(self.weight) and self.weight >= 0):
            raise UsageError(f"weight must be a number of at least 0 (0 is ZERO); got {self.weight}.")


@dataclass(frozen=True)
class Answers:
    """One row per record: the class (-1 for an image that could not be used), its share of the votes, and the target.

    `tied` is True where several classes had most votes, or in the anchored vote the same score: there
    `confidence` is the score divided by 1 + weight. For zero-shot `confidence` is the source view's probability.
    """

    index: Int64
    confidence: Float32
    tied: Bool
    target: Int64

    @classmethod
    def none(cls, target: Int64) -> "Answers":
        """No answer to any of these."""
        n = len(target)
        return cls(np.full(n, -1), np.full(n, np.nan, dtype=np.float32), np.zeros(n, dtype=np.bool_), target)

    @property
    def usable(self) -> Bool:
        """True where there is an answer."""
        return np.asarray(self.index >= 0)

    @property
    def correct(self) -> Bool:
        """True where the answer is the target."""
        return np.asarray(self.usable & (self.index == self.target))


@dataclass(frozen=True)
class _Count:
    """The votes of records, before ties are broken; views in rank order."""

    order: Int64  # (records, views)
    labels: Int64  # (records, views), in rank order: the kept views' votes first, then the discarded views' labels
    k: int
    leads: Bool  # (records, kept): the view voted for a class with most votes
    most: Int64  # (records,)

    @property
    def tied(self) -> Bool:
        """True where the lead is shared."""
        return np.asarray(self.leads.sum(axis=1) > self.most)  # each leading class has `most` voters


def rescore(path: Path, settings: Sequence[Setting | None]) -> list[Answers]:
    """The answers of a records file under each setting (None: zero-shot), the same as `vote.vote` on its logits."""
    return [_joined(answers) for answers in zip(*_each_piece(path, settings), strict=True)] or [
        _joined([]) for _ in settings
    ]


def _each_piece(path: Path, settings: Sequence[Setting | None]) -> Iterator[list[Answers]]:
    for piece in column_pieces(path):
        usable = piece.usable
        answered = piece.take(usable)
        counts: dict[tuple[int, int], _Count] = {}  # the same for every tie rule
        answers = []
        for setting in settings:
            found = zero_shot_answers(piece) if setting is None else Answers.none(piece.target)
            if setting is not None and len(answered):
                size = setting.views, count_kept(setting.views, setting.keep)
                if size not in counts:
                    counts[size] = _count(answered, *size)
                count = counts[size]
                if setting.weight is not None:
                    _fill_anchored(found, usable, answered, count, setting)
                    answers.append(found)
                    continue
                found.index[usable] = _winners(answered, count, setting)
                found.confidence[usable] = count.most / count.k
                found.tied[usable] = count.tied
            answers.append(found)
        yield answers


def _fill_anchored(found: Answers, usable: Bool, columns: Columns, count: _Count, setting: Setting) -> None:
    """Write the anchored vote of every usable record into `found`."""
    check_anchored(columns)
    if setting.tie in GROUP_RULES:
        _check_groups(columns, setting)
    for i, row in enumerate(np.flatnonzero(usable)):
        votes = RankedVotes(count.order[i], count.labels[i], count.k)
        answer = anchored_answer(columns, i, votes, weight=setting.weight or 0.0, tie=setting.tie)
        found.index[row], found.confidence[row], found.tied[row] = answer


def zero_shot_answers(columns: Columns) -> Answers:
    """The source view's answer: what the model answers without any of this."""
    usable = columns.usable
    if (columns.source_top[usable, 0] < 0).any():
        raise UsageError("these records do not hold the source view's classes: the run was recorded without evidence.")
    index = np.where(usable, columns.source_top[:, 0], -1)
    return Answers(index, columns.source_probability, np.zeros(len(columns), dtype=np.bool_), columns.target)


def _count(columns: Columns, views: int, k: int) -> _Count:
    """The votes of each record's first `views` views."""
    least = int((columns.labels >= 0).sum(axis=1).min())
    if least < views:
        raise UsageError(f"cannot score {views} views: some records hold only {least}. Ask for at most that many.")
    order = rank_by_confidence(columns.entropy[:, :views])
    labels = np.take_along_axis(columns.labels[:, :views], order, axis=1)
    asked = np.take_along_axis(columns.teacher_labels[:, :views], order, axis=1)[:, :k]
    if (columns.teacher_labels >= 0).any():
        if (asked < 0).any():
            raise UsageError(
                f"cannot score {k} of {views} views: this run's teacher was asked about fewer. Use a smaller keep."
            )
        labels[:, :k] = asked
    voters = labels[:, :k]
    votes = (voters[:, :, None] == voters[:, None, :]).sum(axis=2)  # of each kept view's class
    most = votes.max(axis=1)
    return _Count(order, labels, k, votes == most[:, None], most)


def _winners(columns: Columns, count: _Count, setting: Setting) -> Int64:
    """The class that wins each record's vote."""
    first = count.leads.argmax(axis=1)[:, None]
    winner: Int64 = np.take_along_axis(count.labels, first, axis=1)[:, 0]  # without a tie, and by "most-confident"
    ties = np.flatnonzero(count.tied)
    if setting.tie == "greedy":
        winner[ties] = _greedy(count, ties, winner[ties])
    elif setting.tie in GROUP_RULES:
        _check_groups(columns, setting)
        winner[ties] = [_by_group(columns, count, i, setting.tie) for i in ties.tolist()]
    elif setting.tie != "most-confident":
        winner[ties] = [_by_rule(columns, count, i, setting.tie) for i in ties.tolist()]
    return winner


def _greedy(count: _Count, ties: Int64, fallback: Int64) -> Int64:
    """The tied class that the first discarded view predicts, most confident first; else the most confident kept."""
    leading = np.where(count.leads[ties], count.labels[ties, : count.k], -1)  # (ties, kept)
    discarded = count.labels[ties, count.k :]
    if discarded.shape[1] == 0:
        return fallback
    breaks = (discarded[:, :, None] == leading[:, None, :]).any(axis=2)
    chosen = np.take_along_axis(discarded, breaks.argmax(axis=1)[:, None], axis=1)[:, 0]
    return np.where(breaks.any(axis=1), chosen, fallback)


def _by_rule(columns: Columns, count: _Count, i: int, rule: str) -> int:
    """The winner of one tie by the vote's own rules, played among the candidates, which hold every tied class."""
    classes, logits = columns.evidence[i].logits()
    if not len(classes):
        raise UsageError(f"tie rule {rule!r} needs logits: the run was recorded without evidence.")
    ranked = columns.evidence[i].positions(count.labels[i], among=classes)
    labels = np.empty_like(ranked)
    labels[count.order[i]] = ranked
    tied = np.unique(ranked[: count.k][count.leads[i]])
    draw = float(columns.tie_draw[i])
    won, _ = break_tie(tied, logits, labels, count.order[i], k=count.k, rule=rule, draw=draw)
    return int(classes[won])


def _check_groups(columns: Columns, setting: Setting) -> None:
    """Groups of views are recorded for all views of a record: with fewer, other views are the most confident."""
    if (columns.views_used != setting.views).any():
        raise UsageError(
            f"tie rule {setting.tie!r} can be scored for the recorded number of views only, not for {setting.views}: "
            "it needs the probabilities of all classes over other groups of views."
        )


def _by_group(columns: Columns, count: _Count, i: int, rule: str) -> int:
    """The tied class whose group scores lowest: the score recorded for its last kept view."""
    scores = columns.evidence[i].groups(rule)
    if not len(scores):
        raise UsageError(f"tie rule {rule!r} needs the scores of groups: the run was recorded without evidence.")
    voters = np.where(count.leads[i], count.labels[i, : count.k], -1)
    tied = np.unique(voters[voters >= 0])
    last = [count.order[i, np.flatnonzero(voters == c)[-1]] for c in tied]
    return int(tied[scores[last].argmin()])


def _joined(parts: Iterable[Answers]) -> Answers:
    found = [Answers.none(np.zeros(0, dtype=np.int64)), *parts]
    return Answers(
        index=np.concatenate([part.index for part in found]),
        confidence=np.concatenate([part.confidence for part in found]),
        tied=np.concatenate([part.tied for part in found]),
        target=np.concatenate([part.target for part in found]),
    )
