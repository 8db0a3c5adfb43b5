"""The seam of episodic tuning methods: one image and a model to tune on it in, a decision out, nothing left behind."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...arrays import Float32, UInt8
from ...encoders import Encoder
from ..base import Decision, MethodDefaults


@dataclass(frozen=True)
class Teacher:
    """A second model that judges the student: its text features, and any views as it wants them."""

    encoder: Encoder
    text: Float32  # (classes, dim), unit
    pixels: Callable[[Sequence[int]], UInt8]  # view indices -> (chosen, size, size, 3)


@dataclass(frozen=True)
class Episode:
    """One image as a tuning method meets it: its views (view 0 is the source view), and the untuned model's logits."""

    encoder: Encoder
    class_names: tuple[str, ...]
    pixels: UInt8  # (views, size, size, 3)
    features: Float32  # (views, dim), unit
    logits: Float32  # (views, classes), at the model's own scale
    text: Float32  # (classes, dim), unit
    teacher: Teacher | None = None


class TuningMethod(MethodDefaults):
    """A method that tunes a model on one image, answers, and puts everything back bit for bit.

    Its confidence is the probability of the source view after tuning.
    """

    @abstractmethod
    def check(self, encoder: Encoder, teacher: Encoder | None) -> None:
        """Raise where the encoder or the teacher lacks what is needed; called once, before any image is read."""

    @abstractmethod
    def adapt(self, episode: Episode) -> Decision:
        """The decision for one image; afterwards the encoder is as it was, also where this raises."""
