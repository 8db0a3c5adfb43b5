"""The seam of training-free methods: logits of views in, a decision out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ..prediction import Bool, Float32, Int64, Scoring
from ..vote import count_kept, entropy_of, rank_by_confidence


@dataclass(frozen=True)
class ViewLogits:
    """What a method decides on: scaled logits (images, views, classes) of student views, and how to reach more.

    `tie_draws` are one number in [0, 1) per image. `teacher` is set in a cascade: it returns the teacher's logits
    (images, kept, classes), of its own scale and bias, of the views whose indices (images, kept) it is given.
    """

    logits: Float32
    logit_scale: float = 1.0
    logit_bias: float = 0.0
    scoring: Scoring = "softmax"
    tie_draws: Sequence[float] | None = None
    teacher: Callable[[Int64], Float32] | None = None
    teacher_scale: float = 1.0
    teacher_bias: float = 0.0
    features: Float32 | None = None  # (images, views, dim), unit
    text: Float32 | None = None  # (classes, dim), unit


@dataclass(frozen=True)
class Decision:
    """One image's answer: the parts of a Prediction that a method knows, and what each view said.

    A tuning method adds `notes` where something did not go as planned and, when asked to record it, p-bar of the kept
    views before and after tuning.
    """

    index: int
    confidence: float
    probability: float
    scores: Float32  # (classes,)
    votes: NDArray[Any] | None
    tie_break: str | None
    view_labels: Int64  # (views,)
    view_entropy: Float32
    view_top_probability: Float32
    view_kept: Bool
    notes: tuple[str, ...] = ()
    marginal_before: Float32 | None = None  # (classes,)
    marginal_after: Float32 | None = None


class TrainingFreeMethod(Protocol):
    """A frozen dataclass of hyper-parameters that decides from logits alone, so it can be batched over images."""

    @property
    def name(self) -> str:
        """Its name in the registry."""
        ...

    @property
    def confidence_is(self) -> str:
        """What `confidence` means: "vote share" or "probability"."""
        ...

    def views_used(self, n_views: int) -> int:
        """How many of the sample's views must be encoded."""
        ...

    def decide(self, views: ViewLogits) -> list[Decision]:
        """One decision per image."""
        ...


@runtime_checkable
class VotingMethod(TrainingFreeMethod, Protocol):
    """A training-free method whose kept views vote, so that it may look at views in rounds and stop early."""

    @property
    def keep(self) -> float:
        """The share of views that vote."""
        ...

    @property
    def whole_votes(self) -> bool:
        """Whether every kept view has exactly one vote."""
        ...


class Stream(Protocol):
    """The running state of a streaming method over one sequence of images."""

    def decide(self, views: ViewLogits) -> list[Decision]:
        """One decision per image, in order; each image changes the state."""
        ...

    def reset(self) -> None:
        """Forget everything seen."""
        ...


@runtime_checkable
class StreamingMethod(Protocol):
    """A frozen dataclass of hyper-parameters whose answers depend on the images before: `start` opens a stream."""

    @property
    def name(self) -> str:
        """Its name in the registry."""
        ...

    @property
    def confidence_is(self) -> str:
        """What `confidence` means."""
        ...

    def views_used(self, n_views: int) -> int:
        """How many of the sample's views must be encoded."""
        ...

    def start(self) -> Stream:
        """A stream that has seen nothing."""
        ...


def kept_mask(entropy: Float32, keep: float) -> Bool:
    """True for the kept views (views,) of one image."""
    mask = np.zeros(len(entropy), dtype=np.bool_)
    mask[rank_by_confidence(entropy)[: count_kept(len(entropy), keep)]] = True
    return mask


def probability_decision(probabilities: Float32, logp: Float32, kept: Bool) -> Decision:
    """The decision of one image by its largest probability (classes,), with `logp` (views, classes) for the trace."""
    index = int(probabilities.argmax())
    return Decision(
        index=index,
        confidence=float(probabilities[index]),
        probability=float(probabilities[index]),
        scores=probabilities,
        votes=None,
        tie_break=None,
        view_labels=logp.argmax(axis=-1),
        view_entropy=entropy_of(logp),
        view_top_probability=np.exp(logp.max(axis=-1)),
        view_kept=kept,
    )
