"""The anchored vote: the confident views vote as in ZERO, and the source view has a say."""

from dataclasses import dataclass
from math import isfinite

import numpy as np

from ..arrays import Float64
from ..checks import checked_keep
from ..errors import UsageError
from ..prediction import Anchor
from ..registry import unknown_name
from ..vote import TIE_RULES, vote
from .base import Decision, ViewLogits, VotingMethod

EQUAL_SAY = 1.0
"""The source view's weight where labels are no more alike than ordinary names: as much as all kept views together."""

EXPONENT = 5
"""How fast it grows with the likeness of the labels (docs/results/vote.md: how both were chosen)."""

MOST = 1000.0
"""It grows no further: the source view decides alone wherever it prefers one label by a thousandth."""


def weight_for(likeness: float) -> float:
    """The source view's weight for labels of this likeness in [0, 1]: the more alike, the more crops mislead."""
    apart = 1 - likeness
    return MOST if apart <= 0 else min(MOST, EQUAL_SAY / apart**EXPONENT)


@dataclass(frozen=True)
class Anchored(VotingMethod):
    """ZERO in which the source view has a say: a label's score is its share of votes + weight * p(label | source view).

    weight  how much the source view's probabilities count against the votes: 1 is as much as all kept views together;
            0 is ZERO, and the larger, the nearer to zero-shot. None takes it from how alike the label texts are to the
            model (`weight_for`): crops of a satellite image are sure and wrong where labels hardly differ

    Labels with equal scores are decided between by ZERO's tie rules. In a cascade the teacher's source view has the
    say. Scores are divided by 1 + weight, so that they sum to 1.
    """

    keep: float = 0.3
    tie: str = "greedy"
    weight: float | None = None

    name = "anchored"
    asks_teacher = True

    def __post_init__(self) -> None:
        checked_keep(self.keep)
        if self.tie not in TIE_RULES:
            raise unknown_name("tie rule", self.tie, TIE_RULES)
        weight = self.weight
        if weight is None:
            return
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not isfinite(weight) or weight < 0:
            raise UsageError(
                f"weight is a number of at least 0 (0 is ZERO), or None to take it from the labels; got {weight!r}."
            )

    @property
    def asks_likeness(self) -> bool:
        """Only where the weight follows from it."""
        return self.weight is None

    @property
    def has_say(self) -> bool:
        """Unless the weight is 0."""
        return self.weight != 0

    def weight_of(self, views: ViewLogits) -> float:
        """The source view's weight for these labels."""
        return weight_for(views.likeness) if self.weight is None else float(self.weight)

    def say(self, views: ViewLogits) -> Float64 | None:
        """Weight times the source view's probabilities (classes,); in a cascade the teacher's."""
        return self.weight_of(views) * _source_probabilities(views) if self.has_say else None

    def decide(self, views: ViewLogits) -> Decision:
        """The vote of the confident views and the source view."""
        asked = None if views.teacher is None else views.teacher(views.most_confident(self.keep))
        weight = self.weight_of(views)
        source = _source_probabilities(views)
        ballot = vote(
            views,
            keep=self.keep,
            tie=self.tie,
            tie_draw=views.tie_draw,
            teacher_logits=asked,
            say=weight * source if self.has_say else None,
        )
        scores = ((ballot.votes / ballot.k + weight * source) / (1 + weight)).astype(np.float32)
        return Decision(
            index=ballot.winner,
            scores=scores,
            views=ballot.views,
            votes=ballot.votes,
            tie_break=ballot.tie_break,
            anchor=Anchor(weight, views.likeness if self.weight is None else None),
        )


def _source_probabilities(views: ViewLogits) -> Float64:
    """The probabilities (classes,) of the source view by the model that votes."""
    logits = views.logits if views.teacher is None else views.teacher(np.zeros(1, dtype=np.int64))
    odds = np.exp((logits[0] - logits[0].max()).astype(np.float64))
    probabilities: Float64 = odds / odds.sum()
    return probabilities
