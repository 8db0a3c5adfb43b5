"""ZERO: keep the confident views and let them vote (Algorithm 1)."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ..arrays import Float32
from ..checks import checked_keep
from ..errors import UsageError
from ..registry import unknown_name
from ..vote import TIE_RULES, ZERO_TEMPERATURES, Ballot, vote
from .base import Decision, ViewLogits, VotingMethod


@dataclass(frozen=True)
class Zero(VotingMethod):
    """The paper's method with its defaults: 30% of the views vote with integer votes; ties are broken greedily.

    zero_temperature  "exact" votes; "eps-fp16" and others are the authors' soft votes (see docs/differences.md)
    compat            "paper" decides as the authors' code does under fp16, without the bug in its last resort: soft
                      votes, and a tie that no discarded view breaks goes to the tied class with the largest logit in
                      the most confident discarded view
    """

    keep: float = 0.3
    tie: str = "greedy"
    zero_temperature: str = "exact"
    compat: Literal["paper"] | None = None

    name = "zero"
    asks_teacher = True

    def __post_init__(self) -> None:
        checked_keep(self.keep)
        for kind, name, known in (
            ("tie rule", self.tie, TIE_RULES),
            ("zero_temperature", self.zero_temperature, ZERO_TEMPERATURES),
        ):
            if name not in known:
                raise unknown_name(kind, name, known)
        if self.compat not in (None, "paper"):
            raise unknown_name("compat", self.compat, ["paper"])
        if self.compat == "paper" and (self.tie, self.zero_temperature) != ("greedy", "exact"):
            raise UsageError(
                "the setting compat=paper fixes the tie rule and the temperature; leave both at their defaults."
            )

    @property
    def whole_votes(self) -> bool:
        """Whether votes are counts, not the authors' soft votes."""
        return self.compat is None and self.zero_temperature == "exact"

    def decide(self, views: ViewLogits) -> Decision:
        """The vote of the confident views."""
        if self.compat == "paper":
            views = _under_fp16(views)
        teacher_logits = None
        scale, bias = views.logit_scale, views.logit_bias
        if views.teacher is not None:
            scale, bias = views.teacher_scale, views.teacher_bias
            teacher_logits = views.teacher(views.most_confident(self.keep))
        ballot = vote(
            views,
            keep=self.keep,
            tie=self.tie,
            zero_temperature="eps-fp16" if self.compat == "paper" else self.zero_temperature,
            logit_scale=scale,
            logit_bias=bias,
            tie_draw=views.tie_draw,
            teacher_logits=teacher_logits,
        )
        index = _last_resort(ballot, views.logits) if self.compat == "paper" else ballot.winner
        return Decision(
            index=index,
            scores=np.asarray(ballot.votes / ballot.k, dtype=np.float32),
            views=ballot.views,
            votes=ballot.votes,
            tie_break=ballot.tie_break,
        )


def _under_fp16(views: ViewLogits) -> ViewLogits:
    """The views with cosines as autocast leaves them: everything, the ranking too, is computed from those."""

    def rounded(logits: Float32, scale: float, bias: float) -> Float32:
        cosines = (logits - np.float32(bias)) / np.float32(scale)
        return cosines.astype(np.float16).astype(np.float32) * np.float32(scale) + np.float32(bias)

    ask = views.teacher
    teacher = None if ask is None else lambda kept: rounded(ask(kept), views.teacher_scale, views.teacher_bias)
    return replace(views, logits=rounded(views.logits, views.logit_scale, views.logit_bias), teacher=teacher)


def _last_resort(ballot: Ballot, logits: Float32) -> int:
    """The winner; where greedy found no view among the discarded, the next view's largest logit of a tied class."""
    if ballot.tie_break not in ("most-confident", "mean-logits") or ballot.k == len(ballot.order):
        return ballot.winner
    tied = np.flatnonzero(ballot.votes == ballot.votes.max())
    return int(tied[logits[ballot.order[ballot.k]][tied].argmax()])
