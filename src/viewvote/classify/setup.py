"""What a classifier knows apart from the images."""

from dataclasses import dataclass, field

from ..arrays import Float32
from ..context import Context
from ..encoders import Encoder
from ..encoders.text_head import TextHead
from ..methods import Method, StreamingMethod, TrainingFreeMethod, TuningMethod
from ..methods.base import Stream
from ..probability import ProbabilityFit
from ..stopping import StoppingRule
from .presence import Presence

Decider = TrainingFreeMethod | TuningMethod | Stream
"""What decides: a method itself, or the stream that a streaming method opened."""


@dataclass(frozen=True)
class LabelledModel:
    """An encoder, the text head of the labels to choose from, and what other photos take off their logits."""

    encoder: Encoder
    head: TextHead
    offsets: Float32 | None = None  # (classes,)

    def logits(self, features: Float32) -> Float32:
        """The logits (views, classes) of features (views, dim), at the model's own scale."""
        logits = self.head.logits(features, self.encoder)
        return logits if self.offsets is None else logits - self.offsets


@dataclass(frozen=True)
class Setup:
    """What a classifier knows apart from the images; `rule` may end an image's rounds before its budget of views."""

    labels: tuple[str, ...]
    method: Method
    decider: Decider
    model: LabelledModel
    teacher: LabelledModel | None
    rule: StoppingRule | None
    abstain_below: float
    evidence: bool
    detail: bool = False
    fit: ProbabilityFit = field(default_factory=ProbabilityFit)
    presence: Presence | None = None
    context: Context | None = None
    likeness: float = 0.0  # of the labels to the model that votes, where the method asks

    @property
    def model_id(self) -> str:
        """The model's id; of a cascade, both."""
        found = self.model.encoder.model_id
        return found if self.teacher is None else f"{found} -> {self.teacher.encoder.model_id}"


def start_decider(method: Method) -> Decider:
    """What decides: the method itself, or for a streaming method a stream that has seen nothing."""
    return method.start() if isinstance(method, StreamingMethod) else method
