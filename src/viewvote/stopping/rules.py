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

    def settled(self, labels: Int64, order: Int64, *, say: Float64 | None = None, sure: float = 0.0) -> bool:
        """Whether the views seen are enough: their labels in view order, and their indices, most confident first.

        `say` (classes,) is what the method adds to the shares of votes, `sure` the source view's top probability.
        """
        ...


@dataclass(frozen=True)
class Confident:
    """Stop when the leader has enough support among the views seen.

    `thresholds` holds what it needs in each round but the last, None where that round never stops. After one view, the
    source view, that is its probability; then the leader's support (`leader_support`), or where the method adds a say
    to the votes, how far it leads with it (`lead`).
    """

    rounds: tuple[int, ...]
    thresholds: tuple[float | None, ...]
    keep: float

    reason = "confident"

    def __post_init__(self) -> None:
        if len(self.thresholds) != len(self.rounds) - 1:
            raise UsageError(f"rounds {self.rounds} need a threshold each but for the last; got {self.thresholds}.")

    def settled(self, labels: Int64, order: Int64, *, say: Float64 | None = None, sure: float = 0.0) -> bool:
        """Whether what this round asks for is reached."""
        threshold = dict(zip(self.rounds, self.thresholds, strict=False)).get(len(labels))
        return threshold is not None and standing(labels, order, keep=self.keep, say=say, sure=sure) >= threshold


def standing(labels: Int64, order: Int64, *, keep: float, say: Float64 | None, sure: float) -> float:
    """What a round's threshold is compared with."""
    if len(labels) == 1:
        return sure
    return leader_support(labels, order, keep=keep) if say is None else lead(labels, order, keep=keep, say=say)


def lead(labels: Int64, order: Int64, *, keep: float, say: Float64) -> float:
    """How far the leader of the vote and the say together is before the next class, its support in place of its votes.

    Negative where the support of all views prefers another class, 0 where several lead the vote; support as in
    `leader_support`.
    """
    ranked = labels[order]
    kept, half = ranked[: count_kept(len(labels), keep)], ranked[: max(1, len(labels) // 2)]
    shares = [np.bincount(views, minlength=len(say)) / len(views) for views in (kept, half, ranked)]
    votes = shares[0] + say
    leaders = np.flatnonzero(votes == votes.max())
    if len(leaders) > 1 or len(say) < 2:
        return 0.0 if len(say) > 1 else np.inf
    support = (shares[0] + shares[1] + shares[2]) / 3 + say
    own = support[leaders[0]]
    support[leaders[0]] = -np.inf
    return float(own - support.max())


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

    def settled(self, labels: Int64, order: Int64, *, say: Float64 | None = None, sure: float = 0.0) -> bool:
        """Whether the leader beats every rival even if all unseen views vote for that one.

        Only the labels of the certain views count, so in a cascade a teacher need not be asked about others.
        """
        del sure
        certain = self.certain(order)
        if say is not None:
            k, unseen = count_kept(self.budget, self.keep), self.budget - len(labels)
            standing = np.bincount(labels[certain], minlength=len(say)) / k + say
            rival, leader = np.sort(np.append(standing, -np.inf))[-2:]  # one label has no rival
            return bool(leader - rival > min(unseen, k) / k + ROUNDING * (1 + say.max()))
        votes = np.bincount(labels[certain], minlength=2)
        rival, leader = np.sort(votes)[-2:]
        return bool(len(certain) and leader > rival + self.budget - len(labels))


FIRST_LOOKS = (1, 2, 3, 4, 6, 8)
"""After how many views an image may end at first: the source view, and few more."""


def adaptive_rounds(budget: int) -> tuple[int, ...]:
    """The first looks, then every 4 views up to half the budget, where most images end, every 8, and the budget."""
    early = [n for n in (*FIRST_LOOKS, *range(12, budget // 2 + 1, 4)) if n < budget]
    late = range((early[-1] if early else budget) // STEP * STEP + STEP, budget, STEP)
    return (*early, *(n for n in late if n > 8), budget)


def aligned_rounds(rounds: tuple[int, ...], block: int) -> tuple[int, ...]:
    """The rounds for an encoder that works in blocks of this many views: each ends where a block does."""
    budget = rounds[-1]
    return tuple(sorted({min(-(-n // block) * block, budget) for n in rounds}))
