"""ZERO: keep the confident views and let them vote (Algorithm 1)."""

from dataclasses import dataclass

import numpy as np

from ..vote import count_kept, entropy_of, log_softmax, rank_by_confidence, vote
from .base import Decision, ViewLogits


@dataclass(frozen=True)
class Zero:
    """The paper's method with its defaults: 30% of the views vote with integer votes; ties are broken greedily.

    `zero_temperature="eps-fp16"` gives the authors' soft votes instead (see docs/differences.md).
    """

    keep: float = 0.3
    tie: str = "greedy"
    zero_temperature: str = "exact"

    name = "zero"
    confidence_is = "vote share"
    asks_teacher = True

    def views_used(self, n_views: int) -> int:
        """All of them."""
        return n_views

    def decide(self, views: ViewLogits) -> list[Decision]:
        """The vote of each image's confident views."""
        teacher_logits = None
        if views.teacher is not None:
            order = rank_by_confidence(entropy_of(log_softmax(views.logits)))
            teacher_logits = views.teacher(order[:, : count_kept(views.logits.shape[1], self.keep)])
        ballots = vote(
            views.logits,
            keep=self.keep,
            tie=self.tie,
            zero_temperature=self.zero_temperature,
            logit_scale=views.logit_scale,
            logit_bias=views.logit_bias,
            tie_draws=views.tie_draws,
            teacher_logits=teacher_logits,
        )
        decisions = []
        for ballot in (ballots[i] for i in range(len(ballots))):
            index = int(ballot.winner)
            decisions.append(
                Decision(
                    index=index,
                    confidence=float(ballot.share),
                    probability=float(ballot.marginal[index]),
                    scores=np.asarray(ballot.votes / ballot.k, dtype=np.float32),
                    votes=ballot.votes,
                    tie_break=ballot.tie_break,
                    view_labels=ballot.labels,
                    view_entropy=ballot.entropy,
                    view_top_probability=ballot.top_probability,
                    view_kept=ballot.kept,
                )
            )
        return decisions
