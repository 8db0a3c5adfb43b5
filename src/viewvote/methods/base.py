"""The seam of methods: what the package reads of each, the logits of views it decides on, and its decision."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Bool, Float32, Float64, Int64
from ..encoders.base import Scoring
from ..prediction import Anchor, ViewTable
from ..vote import RankedViews


@dataclass(frozen=True, eq=False)
class ViewLogits(RankedViews):
    """What a method decides on: the scaled logits (views, classes) of one image's views, and how to reach more.

    Log-probabilities, entropies, the ranking and the kept views come with them (`RankedViews`), computed once for the
    method, the stopping rule and the record. `tie_draw` is a number in [0, 1). `teacher` is set in a cascade: it
    returns the teacher's logits (kept, classes), of its own scale and bias, of the views whose indices it is given.
    """

    logit_scale: float = 1.0
    logit_bias: float = 0.0
    scoring: Scoring = "softmax"
    tie_draw: float | None = None
    teacher: Callable[[Int64], Float32] | None = None
    teacher_scale: float = 1.0
    teacher_bias: float = 0.0
    features: Float32 | None = None  # (views, dim), unit
    text: Float32 | None = None  # (classes, dim), unit
    offsets: Float32 | None = None  # (classes,), taken off the logits already: those of other photos (context/)
    likeness: float = 0.0  # how alike the labels are to the model that votes, where the method asks (encoders/likeness)


@dataclass(frozen=True)
class Decision:
    """One image's answer: the parts of a Prediction that a method knows, and the table of its views.

    `seen` is set by a method that changed the views' logits before it decided, to those that it decided on.
    A tuning method adds `notes` where something did not go as planned and, when asked to record it, p-bar of the kept
    views before and after tuning.
    """

    index: int
    scores: Float32  # (classes,)
    views: ViewTable
    votes: NDArray[Any] | None = None
    tie_break: str | None = None
    notes: tuple[str, ...] = ()
    marginal_before: Float32 | None = None  # (classes,)
    marginal_after: Float32 | None = None
    anchor: Anchor | None = None
    seen: ViewLogits | None = None

    @property
    def confidence(self) -> float:
        """The winner's score: its share of what decided, or its probability."""
        return float(self.scores[self.index])


def probability_decision(views: RankedViews, probabilities: Float32, *, kept: Int64 | Bool) -> Decision:
    """The decision for the largest of `probabilities` (classes,); `kept` are the views that made them.

    Args:
        views: the views that were looked at, for the table.
        probabilities: one number per class.
        kept: indices or a mask of the views that decided.
    """
    index = int(probabilities.argmax())
    return Decision(index=index, scores=np.asarray(probabilities, dtype=np.float32), views=views.table(kept))


class MethodDefaults(ABC):
    """What the package reads of every method, and the defaults; inherit one of the kinds below, not this.

    A method is a frozen dataclass of hyper-parameters; what stands here is set in its body without annotation.
    """

    @property
    @abstractmethod
    def name(self) -> str:
        """Its name in the registry."""

    @property
    def asks_teacher(self) -> bool:
        """Whether a second, stronger model may be given."""
        return False

    @property
    def asks_likeness(self) -> bool:
        """Whether it must know how alike the labels are to the model (`ViewLogits.likeness`)."""
        return False

    @property
    def templates(self) -> str:
        """The template set, or the one template, where the user names none."""
        return "photo"

    @property
    def fingerprint(self) -> str | None:
        """A hash of what decides the answers besides the model and the hyper-parameters, such as a file it reads."""
        return None

    def views_used(self, n_views: int) -> int:
        """How many of the sample's views must be encoded."""
        return n_views

    def reset(self) -> None:  # noqa: B027 - most methods have nothing to forget
        """Forget the images before."""


class TrainingFreeMethod(MethodDefaults):
    """A method that decides each image from the logits of its views alone."""

    @abstractmethod
    def decide(self, views: ViewLogits) -> Decision:
        """The decision for one image."""


class VotingMethod(TrainingFreeMethod):
    """A training-free method whose kept views vote, so that it may look at views in rounds and stop early."""

    keep: float
    """The share of views that vote: a field of the dataclass."""

    @property
    def whole_votes(self) -> bool:
        """Whether every kept view has exactly one vote."""
        return True

    @property
    def has_say(self) -> bool:
        """Whether anything is added to the shares of votes."""
        return False

    def say(self, views: ViewLogits) -> Float64 | None:  # noqa: ARG002 - most let the votes alone decide
        """What is added to the shares of votes (classes,), the same for any views that follow; None for nothing."""
        return None


class Stream(ABC):
    """The running state of a streaming method over one sequence of images."""

    @abstractmethod
    def decide(self, views: ViewLogits) -> Decision:
        """The decision for the next image, which changes the state."""


class StreamingMethod(MethodDefaults):
    """A method whose answers depend on the images before: `start` opens a stream."""

    @abstractmethod
    def start(self) -> Stream:
        """A stream that has seen nothing."""
