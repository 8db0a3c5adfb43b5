"""The anchored vote of one record: the source view's probabilities are derived from what is recorded of it."""

from dataclasses import dataclass

import numpy as np

from ..arrays import Float64, Int64
from ..errors import UsageError
from ..records.columns import Columns
from ..records.evidence import TieEvidence
from ..vote import break_tie, tally


@dataclass(frozen=True)
class RankedVotes:
    """The views of one record in rank order; the first `k` are kept."""

    order: Int64  # (views,)
    labels: Int64  # (views,), in rank order
    k: int


def check_anchored(columns: Columns) -> None:
    """Raise UsageError unless the records hold what the anchored vote needs."""
    if (columns.teacher_labels >= 0).any():
        raise UsageError(
            "cannot score the anchored vote of a cascade: it needs the teacher's probabilities of the source view, "
            "which are not recorded. Run it with --method anchored."
        )
    if any(not evidence.candidates for evidence in columns.evidence):
        raise UsageError("the anchored vote needs the source view's logits: the run was recorded without evidence.")


def anchored_answer(
    columns: Columns, i: int, votes: RankedVotes, *, weight: float, tie: str
) -> tuple[int, float, bool]:
    """The class, its score divided by 1 + weight, and whether others had the same, for the record at position `i`.

    Only candidates can win: of all classes, one of them is the source view's best, and no other class has a vote.
    """
    evidence = columns.evidence[i]
    classes, logits = evidence.logits()
    ranked = evidence.positions(votes.labels, among=classes)
    source = source_probabilities(logits[0], float(columns.source_probability[i]))
    standing = tally(ranked[: votes.k], len(classes)) / votes.k + weight * source
    leaders = np.flatnonzero(standing == standing.max())
    winner = int(leaders[0])
    if len(leaders) > 1:
        if tie in ("group-marginal", "group-logits") and np.isin(ranked[: votes.k], leaders).any():
            winner = _by_group(evidence, votes, ranked, leaders, tie)
        else:
            labels = np.empty_like(ranked)
            labels[votes.order] = ranked
            draw = float(columns.tie_draw[i])
            winner, _ = break_tie(leaders, logits, labels, votes.order, k=votes.k, rule=tie, draw=draw)
    return int(classes[winner]), float(standing[winner] / (1 + weight)), len(leaders) > 1


def source_probabilities(logits: Float64, best: float) -> Float64:
    """The probabilities of candidates from their logits and the probability of the best: odds need no other class."""
    odds: Float64 = np.exp((logits - logits.max()).astype(np.float64))
    return best * odds


def _by_group(evidence: TieEvidence, votes: RankedVotes, ranked: Int64, leaders: Int64, rule: str) -> int:
    """The leader whose group of kept views scores lowest: the score recorded for its last kept view."""
    kept, scores = ranked[: votes.k], evidence.groups(rule)
    voted = [c for c in leaders.tolist() if (kept == c).any()]
    return int(min(voted, key=lambda c: scores[votes.order[np.flatnonzero(kept == c)[-1]]]))
