"""The two rules that end an image's rounds of views before its budget. Both look at labels and the ranking alone.

Views come in the fixed order of the sample, so those seen are always the first of the full run.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..arrays import Float64, Int64
from ..errors import UsageError
from ..vote import count_kept

STEP = 8
"""Late rounds end on multiples of it, which are also the blocks that torch encoders work in."""


ROUNDING = 1e-12
"""How far the sum of a share and a say may be off, relative to the largest."""


class StoppingRule(Protocol):
    """After each of its rounds a rule decides whether the views seen settle the answer."""

    @property
    def reason(self) -> str:
        """The value of `Prediction.stop` where the rule ended the rounds."""
        ...

    @property
    def rounds(self) -> tuple[int, ...]:
        """How many views have been seen when it looks, ascending; the last is the budget."""
        ...

    def settled(self, labels: Int64, order: Int64, *, say: Float64 | None = None) -> bool:
        """Whether the views seen are enough: their labels in view order, and their indices, most confident first.

        `say` (classes,) is what the method adds to the shares of votes; a rule may leave it aside.
        """
        ...


@dataclass(frozen=True)
class Confident:
    """Stop when the leader has enough support among the views seen.

    The leader is the class with the most votes among the kept views; a tie for the lead never stops. `thresholds` holds
    the support that it needs in each round but the last, None where that round never stops.
    """

    rounds: tuple[int, ...]
    thresholds: tuple[float | None, ...]
    keep: float

    reason = "confident"

    def __post_init__(self) -> None:
        if len(self.thresholds) != len(self.rounds) - 1:
            raise UsageError(f"rounds {self.rounds} need a threshold each but for the last; got {self.thresholds}.")

    def settled(self, labels: Int64, order: Int64, *, say: Float64 | None = None) -> bool:  # noqa: ARG002
        """Whether the leader's support reaches the threshold of this round; the votes alone count."""
        threshold = dict(zip(self.rounds, self.thresholds, strict=False)).get(len(labels))
        return threshold is not None and leader_support(labels, order, keep=self.keep) >= threshold


def leader_support(labels: Int64, order: Int64, *, keep: float) -> float:
    """The mean of the leader's shares of the kept views, of the more confident half and of all; 0 in a tie.

    The kept views decide, but early on they are few (of 8 views 2) and agree too easily; the others show how likely the
    next confident view is to disagree.
    """
    ranked = labels[order]
    kept, half = ranked[: count_kept(len(labels), keep)], ranked[: max(1, len(labels) // 2)]
    votes = np.bincount(kept)
    leaders = np.flatnonzero(votes == votes.max())
    if len(leaders) > 1:
        return 0.0
    return sum(np.count_nonzero(views == leaders[0]) / len(views) for views in (kept, half, ranked)) / 3


@dataclass(frozen=True)
class Exact:
    """Stop only when no remaining view can change the decision of the full budget, whatever the tie rule.

    Of `budget` views k are kept in the end. If r are unseen and j of them turn out confident enough to be kept, the
    others are the k - j most confident views seen. Each of the j may vote for the strongest rival: the leader is safe
    if it has more votes among those k - j than any rival has, plus j. Raising j by one takes at most one vote from the
    rival and gives it one, and never adds to the leader, so the largest j, min(r, k), is the worst. A strict lead also
    rules out a tie, so the tie rule and the discarded views cannot change it.

    It needs r < k / 2: with 64 views and keep 0.3 (k = 19) it cannot stop before view 55. Where the method adds a say
    to the shares of votes (`has_say`), which later views do not change, the same holds of the sums of both, and a
    source view that is sure may settle it at the first look.
    """

    budget: int
    keep: float
    has_say: bool = False

    reason = "exact"

    @property
    def rounds(self) -> tuple[int, ...]:
        """Every 8 views from the first count at which unanimous views could settle it; with a say, from 8."""
        if self.has_say:
            return (*range(STEP, self.budget, STEP), self.budget)
        earliest = self.budget - (count_kept(self.budget, self.keep) - 1) // 2
        first = -(-earliest // STEP) * STEP
        return (*range(first, self.budget, STEP), self.budget)

    def certain(self, order: Int64) -> Int64:
        """Those of the views seen that are kept whatever comes, the most confident first."""
        unseen = self.budget - len(order)
        return order[: max(0, count_kept(self.budget, self.keep) - unseen)]

    def settled(self, labels: Int64, order: Int64, *, say: Float64 | None = None) -> bool:
        """Whether the leader beats every rival even if all unseen views vote for that one.

        Only the labels of the certain views count, so in a cascade a teacher need not be asked about others.
        """
        certain = self.certain(order)
        if say is not None:
            k, unseen = count_kept(self.budget, self.keep), self.budget - len(labels)
            standing = np.bincount(labels[certain], minlength=len(say)) / k + say
            rival, leader = np.sort(np.append(standing, -np.inf))[-2:]  # one label has no rival
            return bool(leader - rival > min(unseen, k) / k + ROUNDING * (1 + say.max()))
        votes = np.bincount(labels[certain], minlength=2)
        rival, leader = np.sort(votes)[-2:]
        return bool(len(certain) and leader > rival + self.budget - len(labels))


def adaptive_rounds(budget: int) -> tuple[int, ...]:
    """Every 4 views up to half the budget, where most images end, then every 8, and the budget."""
    early = range(4, budget // 2 + 1, 4)
    late = range((early[-1] if early else budget) // STEP * STEP + STEP, budget, STEP)
    return (*early, *late, budget)


def aligned_rounds(rounds: tuple[int, ...], block: int) -> tuple[int, ...]:
    """The rounds for an encoder that works in blocks of this many views: each ends where a block does."""
    budget = rounds[-1]
    return tuple(sorted({min(-(-n // block) * block, budget) for n in rounds}))
