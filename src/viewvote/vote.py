"""Entropy, ranking, keeping, tallying and tie breaking (Sec. 3.2 and the appendix on ties): pure numpy, float32.

Every function takes logits at the model's own scale (`logit_scale * cosine + logit_bias`), shaped (views, classes) for
one image or (images, views, classes) for many; results carry the same leading axis.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import NonFiniteError, UsageError
from .prediction import Bool, Float32, Int64
from .registry import unknown_name

ZeroTemperature = Literal["exact", "eps-fp16", "eps-bf16", "eps-fp32"]
TieRule = Literal["greedy", "most-confident", "group-marginal", "max-logit", "mean-logits", "group-logits", "random"]
ZERO_TEMPERATURES: tuple[str, ...] = get_args(ZeroTemperature)
TIE_RULES: tuple[str, ...] = get_args(TieRule)


def checked_logits(logits: ArrayLike) -> Float32:
    """The logits as float32 (..., views, classes); a NaN or infinity is an error that names the view."""
    array = np.asarray(logits)
    if array.ndim not in (2, 3) or 0 in array.shape[-2:]:
        raise UsageError(
            f"logits must be (views, classes) or (images, views, classes) and not empty; got {array.shape}."
        )
    with np.errstate(over="ignore"):  # a float64 beyond float32 becomes infinite and is reported below
        array = array.astype(np.float32, copy=False)
    bad = np.argwhere(~np.isfinite(array).all(axis=-1))
    if len(bad):
        where = f"view {bad[0][-1]}" + (f" of image {bad[0][0]}" if array.ndim == 3 else "")
        raise NonFiniteError(
            f"{where} has a non-finite logit ({len(bad)} such views). The encoder's features are broken."
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
    if not 0 < keep <= 1:
        raise UsageError(f"keep must be above 0 and at most 1 (the share of views that vote); got {keep}.")
    return max(1, int(n_views * keep))


def rank_by_confidence(entropy: Float32) -> Int64:
    """View indices from most to least confident (ascending entropy); equal entropies keep the view order."""
    return np.argsort(entropy, axis=-1, kind="stable")


def tally(labels: Int64, n_classes: int) -> Int64:
    """Integer votes per class of the kept views (Sec. 3.2: the limit tau -> 0+ of the marginal)."""
    images = labels.reshape(-1, labels.shape[-1])
    offsets = np.arange(len(images), dtype=np.int64)[:, None] * n_classes
    counts = np.bincount((images + offsets).ravel(), minlength=len(images) * n_classes)
    return counts.reshape(*labels.shape[:-1], n_classes).astype(np.int64, copy=False)


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


def marginal(logits: ArrayLike, kept: Int64 | None = None) -> Float32:
    """The marginal p-bar at the model's temperature over the kept views (indices), or over all of them."""
    array = checked_logits(logits)
    if kept is not None:
        array = np.take_along_axis(array, np.asarray(kept)[..., None], axis=-2)
    p_bar: Float32 = np.exp(log_softmax(array)).mean(axis=-2)
    return p_bar


@dataclass(frozen=True)
class Ballot:
    """The whole vote; for a batch every field has a leading axis of images, and `ballot[i]` is one of them.

    labels, entropy, top_probability   of every view, in view order
    order      views from most to least confident; the first `k` are kept
    kept       True for views that voted, in view order
    votes      per class: int64 counts, or float32 sums under an "eps-..." temperature
    marginal   p-bar of the kept views at the model's temperature
    winner     the decided class
    tied       how many classes shared the lead (1: no tie)
    rule       index in TIE_RULES of the rule that decided, -1 without a tie
    """

    labels: Int64
    entropy: Float32
    top_probability: Float32
    order: Int64
    k: int
    kept: Bool
    votes: NDArray[Any]
    marginal: Float32
    winner: Int64
    tied: Int64
    rule: Int64

    def __getitem__(self, image: int) -> "Ballot":
        if self.labels.ndim == 1:
            raise UsageError("this ballot is of one image; only a ballot over a batch can be indexed.")
        values = {name: value if name == "k" else value[image] for name, value in vars(self).items()}
        return Ballot(**values)

    def __len__(self) -> int:
        return len(self.labels) if self.labels.ndim == 2 else 1

    @property
    def share(self) -> Float32:
        """The winner's share of the votes."""
        won = np.take_along_axis(self.votes, np.asarray(self.winner)[..., None], axis=-1)[..., 0]
        return np.asarray(won / self.k, dtype=np.float32)

    @property
    def source_agrees(self) -> Bool:
        """Whether the source view (view 0) predicts the winner, i.e. plain zero-shot gives the same answer."""
        return np.asarray(self.labels[..., 0] == self.winner)

    @property
    def tie_break(self) -> str | None:
        """The rule that decided this one image, or None."""
        return TIE_RULES[int(self.rule)] if int(self.rule) >= 0 else None


def vote(
    logits: ArrayLike,
    *,
    keep: float = 0.3,
    tie: str = "greedy",
    zero_temperature: str = "exact",
    logit_scale: float = 1.0,
    logit_bias: float = 0.0,
    tie_draws: Sequence[float] | float | None = None,
    teacher_logits: ArrayLike | None = None,
) -> Ballot:
    """The vote of the confident views (Algorithm 1): rank by entropy, keep, tally, break ties.

    `logit_scale` and `logit_bias`, of the model that votes, turn its logits back into cosines and matter only under an
    "eps-..." temperature.
    `tie_draws` holds one number in [0, 1) per image for the "random" rule.
    `teacher_logits` (..., k, classes) are a stronger model's logits of the kept views, most confident first: then the
    student only ranks (Sec. 4.1, group 3) and the teacher votes; discarded views still break ties with the student's.
    """
    if tie not in TIE_RULES:
        raise unknown_name("tie rule", tie, TIE_RULES)
    scaled = checked_logits(logits)
    single = scaled.ndim == 2
    scaled = scaled[None] if single else scaled  # (images, views, classes)
    n_images, n_views, n_classes = scaled.shape
    k = count_kept(n_views, keep)
    draws = _checked_draws(tie_draws, n_images) if tie == "random" else None

    logp = log_softmax(scaled)
    entropy = entropy_of(logp)  # (images, views)
    order = rank_by_confidence(entropy)
    kept = order[:, :k]
    if teacher_logits is not None:
        scaled = _with_teacher(scaled, kept, teacher_logits)
        logp = log_softmax(scaled)
    labels = scaled.argmax(axis=-1)
    if zero_temperature == "exact":
        votes: NDArray[Any] = tally(np.take_along_axis(labels, kept, axis=1), n_classes)
    else:
        cosines = (np.take_along_axis(scaled, kept[..., None], axis=1) - np.float32(logit_bias)) / np.float32(
            logit_scale
        )
        votes = soft_tally(cosines, zero_temperature)

    winner = votes.argmax(axis=-1)
    tied = (votes == votes.max(axis=-1, keepdims=True)).sum(axis=-1)
    rule = np.full(n_images, -1, dtype=np.int64)
    for i in np.flatnonzero(tied > 1):
        candidates = np.flatnonzero(votes[i] == votes[i].max())
        draw = float(draws[i]) if draws is not None else 0.0
        winner[i], used = break_tie(candidates, scaled[i], labels[i], order[i], k=k, rule=tie, draw=draw)
        rule[i] = TIE_RULES.index(used)

    mask = np.zeros((n_images, n_views), dtype=np.bool_)
    np.put_along_axis(mask, kept, True, axis=1)
    ballot = Ballot(
        labels=labels,
        entropy=entropy,
        top_probability=np.exp(logp.max(axis=-1)),
        order=order,
        k=k,
        kept=mask,
        votes=votes,
        marginal=np.exp(np.take_along_axis(logp, kept[..., None], axis=1)).mean(axis=1),
        winner=winner,
        tied=tied.astype(np.int64),
        rule=rule,
    )
    return ballot[0] if single else ballot


def _with_teacher(student: Float32, kept: Int64, teacher_logits: ArrayLike) -> Float32:
    """The student's logits with the rows of the kept views replaced by the teacher's."""
    teacher = checked_logits(teacher_logits)
    teacher = teacher[None] if teacher.ndim == 2 else teacher
    expected = (*kept.shape, student.shape[-1])
    if teacher.shape != expected:
        raise UsageError(f"teacher_logits must be (images, kept, classes) = {expected}; got {teacher.shape}.")
    combined = student.copy()
    np.put_along_axis(combined, kept[..., None], teacher, axis=1)
    return combined


def _checked_draws(tie_draws: Sequence[float] | float | None, n_images: int) -> NDArray[np.float64]:
    if tie_draws is None:
        raise UsageError(
            'the "random" tie rule needs tie_draws, one number in [0, 1) per image, so that it can be repeated.'
        )
    draws = np.atleast_1d(np.asarray(tie_draws, dtype=np.float64))
    if draws.shape != (n_images,) or not ((draws >= 0) & (draws < 1)).all():
        raise UsageError(f"tie_draws must be {n_images} number(s) in [0, 1); got {tie_draws!r}.")
    return draws


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
    """Entropy of what the views of one class say together: their mean probabilities, or their mean logits."""
    if rule == "group-logits":
        return float(entropy_of(log_softmax(logits.mean(axis=0))))
    with np.errstate(divide="ignore"):  # a class that no view gives any probability has log 0
        logp = np.log(np.exp(log_softmax(logits)).mean(axis=0))
    return float(entropy_of(np.maximum(logp, np.finfo(np.float32).min)))
