"""The seam of episodic tuning methods: one image and a model to tune on it in, a decision out, nothing left behind."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from ...encoders import Encoder
from ...prediction import Float32, UInt8
from ..base import Decision


@dataclass(frozen=True)
class Teacher:
    """A second model that judges the student: its text features, and any views as it wants them."""

    encoder: Encoder
    text: Float32  # (classes, dim), unit
    pixels: Callable[[Sequence[int]], UInt8]  # view indices -> (chosen, size, size, 3)


@dataclass(frozen=True)
class Episode:
    """One image as a tuning method meets it: views (view 0 is the source view), and what the untuned model says."""

    encoder: Encoder
    class_names: tuple[str, ...]
    pixels: UInt8  # (views, size, size, 3)
    features: Float32  # (views, dim), unit
    logits: Float32  # (views, classes), at the model's own scale
    text: Float32  # (classes, dim), unit
    teacher: Teacher | None = None


@runtime_checkable
class TuningMethod(Protocol):
    """A frozen dataclass of hyper-parameters that tunes on one image, answers, and puts everything back bit for bit."""

    @property
    def name(self) -> str:
        """Its name in the registry."""
        ...

    @property
    def confidence_is(self) -> str:
        """What `confidence` means: "probability", of the source view after tuning."""
        ...

    def views_used(self, n_views: int) -> int:
        """How many of the sample's views must be encoded."""
        ...

    def check(self, encoder: Encoder, teacher: Encoder | None) -> None:
        """An error that says what the encoder lacks, or the teacher; called once, before any image is read."""
        ...

    def adapt(self, episode: Episode) -> Decision:
        """The decision of one image; afterwards the encoder is as it was, also where this raises."""
        ...
