"""Entropy, ranking, keeping, tallying and tie breaking (Sec. 3.2 and the appendix on ties): pure numpy, float32.

Every function takes the logits of one image's views at the model's own scale (`logit_scale * cosine + logit_bias`),
shaped (views, classes).
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arrays import Bool, Float32, Float64, Int64
from .checks import checked_keep
from .errors import NonFiniteError, UsageError
from .prediction import ViewTable
from .registry import unknown_name

ZeroTemperature = Literal["exact", "eps-fp16", "eps-bf16", "eps-fp32"]
TieRule = Literal["greedy", "most-confident", "group-marginal", "max-logit", "mean-logits", "group-logits", "random"]
ZERO_TEMPERATURES: tuple[str, ...] = get_args(ZeroTemperature)
TIE_RULES: tuple[str, ...] = get_args(TieRule)


def checked_logits(logits: ArrayLike) -> Float32:
    """The logits as float32 (views, classes); a NaN or infinity raises NonFiniteError, which names the view."""
    array = np.asarray(logits)
    if array.ndim != 2 or 0 in array.shape:
        raise UsageError(f"logits must be (views, classes) and not empty; got {array.shape}.")
    with np.errstate(over="ignore"):  # a float64 beyond float32 becomes infinite and is reported below
        array = array.astype(np.float32, copy=False)
    bad = np.flatnonzero(~np.isfinite(array).all(axis=-1))
    if len(bad):
        raise NonFiniteError(
            f"view {bad[0]} has a non-finite logit ({len(bad)} such views). The encoder's features are broken."
        )
    return array


def log_softmax(logits: Float32) -> Float32:
    """Log-probabilities over the last axis, finite for any finite logits."""
    shifted = logits - logits.max(axis=-1, keepdims=True)
    logp: Float32 = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return logp


def entropy_of(log_probabilities: Float32) -> Float32:
    """Entropy in nats over the last axis; p log p is 0 where p underflows, because log p stays finite."""
    entropy: Float32 = -(np.exp(log_probabilities) * log_probabilities).sum(axis=-1)
    return entropy


def count_kept(n_views: int, keep: float) -> int:
    """How many views are kept: the truncated share, but at least one (64 views at 0.3 keep 19)."""
    # Differs: the authors' int(N * gamma) can be 0; see docs/differences.md.
    return max(1, int(n_views * checked_keep(keep)))


def rank_by_confidence(entropy: Float32) -> Int64:
    """View indices from most to least confident (ascending entropy); equal entropies keep the view order."""
    return np.argsort(entropy, axis=-1, kind="stable")


def tally(labels: Int64, n_classes: int) -> Int64:
    """Integer votes per class of the kept views (Sec. 3.2: the limit tau -> 0+ of the marginal)."""
    return np.bincount(labels, minlength=n_classes).astype(np.int64, copy=False)


def soft_tally(cosines: Float32, zero_temperature: str) -> Float32:
    """Votes of the kept views as the authors' code sums them: softmax(cosine / eps) with the eps of their dtype.

    The cosines are rounded to that dtype first, as autocast leaves them; every eps is a power of two, so dividing
    rounds nothing. Under fp16 a lead of 0.001 in cosine earns only about 0.74 of a vote.
    """
    if zero_temperature == "eps-fp16":
        rounded, eps = cosines.astype(np.float16).astype(np.float32), 2.0**-10
    elif zero_temperature == "eps-bf16":
        rounded, eps = round_to_bf16(cosines), 2.0**-7
    elif zero_temperature == "eps-fp32":
        rounded, eps = cosines, 2.0**-23
    else:
        raise unknown_name("zero_temperature", zero_temperature, ZERO_TEMPERATURES)
    votes: Float32 = np.exp(log_softmax(rounded / np.float32(eps))).sum(axis=-2)
    return votes


def round_to_bf16(values: Float32) -> Float32:
    """The nearest bfloat16 of each value (ties to even), as float32; numpy has no such dtype."""
    bits = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32)
    rounded = bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
    return (rounded & np.uint32(0xFFFF0000)).view(np.float32)


@dataclass(frozen=True, eq=False)
class RankedViews:
    """The views of one image and what every decision reads of them, each computed once, when it is first read.

    Logits with a NaN or infinity raise NonFiniteError at construction.
    """

    logits: Float32  # (views, classes)

    def __post_init__(self) -> None:
        object.__setattr__(self, "logits", checked_logits(self.logits))

    def __len__(self) -> int:
        return len(self.logits)

    @cached_property
    def logp(self) -> Float32:
        """Log-probabilities (views, classes)."""
        return log_softmax(self.logits)

    @cached_property
    def entropy(self) -> Float32:
        """Entropy in nats (views,)."""
        return entropy_of(self.logp)

    @cached_property
    def order(self) -> Int64:
        """View indices from most to least confident (views,)."""
        return rank_by_confidence(self.entropy)

    @cached_property
    def labels(self) -> Int64:
        """The class with the largest logit (views,)."""
        labels: Int64 = self.logits.argmax(axis=-1)
        return labels

    @cached_property
    def top_probability(self) -> Float32:
        """The largest probability (views,)."""
        top: Float32 = np.exp(self.logp.max(axis=-1))
        return top

    def most_confident(self, keep: float) -> Int64:
        """The indices of the kept share of the views, most confident first."""
        return self.order[: count_kept(len(self), keep)]

    def kept(self, keep: float) -> Bool:
        """True for the kept share of the views, in view order."""
        return self._mask(self.most_confident(keep))

    def table(self, kept: Int64 | Bool) -> ViewTable:
        """The table of the views; `kept` are those that decided, as indices or as a mask."""
        return ViewTable(self.labels, self.entropy, self.top_probability, self._mask(kept))

    def _mask(self, kept: Int64 | Bool) -> Bool:
        mask = np.zeros(len(self), dtype=np.bool_)
        mask[kept] = True
        return mask


@dataclass(frozen=True)
class Ballot:
    """The whole vote of one image.

    views      the table of the views: in a cascade, labels and probabilities of the kept ones are the teacher's
    order      views from most to least confident; the first `k` are kept
    votes      per class: int64 counts, or float32 sums under an "eps-..." temperature
    winner     the decided class
    tied       how many classes shared the lead (1: no tie), the source view's say included where it has one
    tie_break  the rule that decided, None without a tie
    """

    views: ViewTable
    order: Int64
    k: int
    votes: NDArray[Any]
    winner: int
    tied: int
    tie_break: str | None

    @property
    def share(self) -> float:
        """The winner's share of the votes."""
        return float(np.float32(self.votes[self.winner] / self.k))


def vote(
    views: RankedViews | ArrayLike,
    *,
    keep: float = 0.3,
    tie: str = "greedy",
    zero_temperature: str = "exact",
    logit_scale: float = 1.0,
    logit_bias: float = 0.0,
    tie_draw: float | None = None,
    teacher_logits: ArrayLike | None = None,
    say: Float64 | None = None,
) -> Ballot:
    """The vote of one image's confident views (Algorithm 1): rank by entropy, keep, tally, break ties.

    `views` are logits (views, classes), or those already ranked.
    `logit_scale` and `logit_bias`, of the model that votes, turn its logits back into cosines and matter only under an
    "eps-..." temperature.
    `tie_draw` is a number in [0, 1) for the "random" rule.
    `teacher_logits` (k, classes) are a stronger model's logits of the kept views, most confident first: then the
    student only ranks (Sec. 4.1, group 3) and the teacher votes; discarded views still break ties with the student's.
    `say` (classes,) is added to the shares of votes before the winner is looked for (the anchored vote).
    """
    if tie not in TIE_RULES:
        raise unknown_name("tie rule", tie, TIE_RULES)
    draw = _checked_draw(tie_draw) if tie == "random" else 0.0
    student = views if isinstance(views, RankedViews) else RankedViews(np.asarray(views))
    order, kept = student.order, student.most_confident(keep)
    voting = student if teacher_logits is None else _with_teacher(student, kept, teacher_logits)
    n_classes = voting.logits.shape[1]
    if zero_temperature == "exact":
        votes: NDArray[Any] = tally(voting.labels[kept], n_classes)
    else:
        cosines = (voting.logits[kept] - np.float32(logit_bias)) / np.float32(logit_scale)
        votes = soft_tally(cosines, zero_temperature)
    standing = votes if say is None else votes / len(kept) + say
    leaders = np.flatnonzero(standing == standing.max())
    winner, rule = int(leaders[0]), None
    if len(leaders) > 1:
        winner, rule = break_tie(leaders, voting.logits, voting.labels, order, k=len(kept), rule=tie, draw=draw)
    table = replace(voting.table(kept), entropy=student.entropy)
    return Ballot(table, order, len(kept), votes, winner, len(leaders), rule)


def _with_teacher(student: RankedViews, kept: Int64, teacher_logits: ArrayLike) -> RankedViews:
    """The student's views with the logits of the kept ones replaced by the teacher's."""
    teacher = checked_logits(teacher_logits)
    expected = (len(kept), student.logits.shape[1])
    if teacher.shape != expected:
        raise UsageError(f"teacher_logits must be (kept, classes) = {expected}; got {teacher.shape}.")
    combined = student.logits.copy()
    combined[kept] = teacher
    return RankedViews(combined)


def _checked_draw(tie_draw: float | None) -> float:
    if tie_draw is None or not 0 <= tie_draw < 1:
        raise UsageError(
            f'the "random" tie rule needs tie_draw, a number in [0, 1), so that it can be repeated; got {tie_draw!r}.'
        )
    return tie_draw


def break_tie(
    tied: Int64, logits: Float32, labels: Int64, order: Int64, *, k: int, rule: str, draw: float = 0.0
) -> tuple[int, str]:
    """The class that wins a tie of one image, and the rule that decided (the appendix's seven, in its order).

    greedy          the first discarded view, most confident first, that predicts a tied class
    most-confident  the most confident kept view that predicts a tied class
    group-marginal  per tied class p-bar of the kept views that predict it; the one with the lowest entropy
    max-logit       the tied class with the largest logit in any kept view
    mean-logits     the tied class with the largest logit averaged over the kept views
    group-logits    as group-marginal, averaging logits instead of probabilities
    random          a draw

    Where greedy finds no such view (or nothing was discarded: keep = 1) the most-confident rule decides; where no kept
    view predicts a tied class, which only soft votes allow, the mean logits do. Exact draws go to the lower index.
    """
    kept, discarded = order[:k], order[k:]
    if rule == "random":
        return int(tied[int(draw * len(tied))]), "random"
    if rule == "max-logit":
        return int(tied[logits[kept][:, tied].max(axis=0).argmax()]), rule
    if rule in ("greedy", "most-confident"):
        for views, used in ((discarded, "greedy"), (kept, "most-confident"))[rule == "most-confident" :]:
            breaking = np.flatnonzero(np.isin(labels[views], tied))
            if len(breaking):
                return int(labels[views[breaking[0]]]), used
    elif rule in ("group-marginal", "group-logits"):
        voted = [c for c in tied if (labels[kept] == c).any()]
        if voted:
            return int(min(voted, key=lambda c: _group_entropy(logits[kept[labels[kept] == c]], rule))), rule
    return int(tied[logits[kept][:, tied].mean(axis=0).argmax()]), "mean-logits"


def _group_entropy(logits: Float32, rule: str) -> float:
    """Entropy of the views of one class taken together: of their mean probabilities, or of their mean logits."""
    if rule == "group-logits":
        return float(entropy_of(log_softmax(logits.mean(axis=0))))
    with np.errstate(divide="ignore"):  # a class that no view gives any probability has log 0
        logp = np.log(np.exp(log_softmax(logits)).mean(axis=0))
    return float(entropy_of(np.maximum(logp, np.finfo(np.float32).min)))
