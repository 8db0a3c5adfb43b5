"""What is tuned: context vectors, learned prompts or a vision tower, lent for one image and put back bit for bit."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from ...arrays import Int64
from ...encoders.torch.learned_prompts import PromptLearner
from ...encoders.torch.tunable import PromptTunable, Snapshot, VisionTunable
from ...errors import MissingExtraError
from .episode import Episode

try:
    import torch
    from torch import Tensor
except ImportError as error:
    raise MissingExtraError.for_extra("torch", what="Test-time tuning") from error

Tapped = tuple[Tensor, tuple[Tensor, ...]]


@dataclass(frozen=True)
class Student:
    """A model with free parameters, seen from a method: features of classes and of views, differentiable in them."""

    parameters: Sequence[Tensor]
    text: Callable[[], Tensor]  # unit (classes, dim)
    views: Callable[[Int64, int], Tapped]  # unit (chosen, dim), and the inputs of the first n vision blocks
    features: Tensor  # unit (views, dim) before tuning, without gradients
    scale: float
    bias: float

    def logits(self, views: Tensor, text: Tensor) -> Tensor:
        """Logits (views, classes) at the model's own scale."""
        return self.scale * views @ text.T + self.bias


@contextmanager
def context_student(encoder: PromptTunable, episode: Episode, *, words: str, chunk: int) -> Iterator[Student]:
    """Free context vectors in front of the class names; they start at `words`, or at CoOp's where the encoder is one.

    The encoder itself stays frozen, so there is nothing to put back: the vectors are new for every image.
    """
    with _gradients():
        context = encoder.initial_context(words).requires_grad_()
        features = torch.tensor(episode.features, device=context.device)

        def views(chosen: Int64, taps: int) -> Tapped:
            del taps
            return features[chosen.tolist()], ()

        def text() -> Tensor:
            return encoder.text_features_from_context(context, episode.class_names, chunk=chunk)

        yield Student([context], text, views, features, encoder.logit_scale, encoder.logit_bias)


@contextmanager
def prompt_student(encoder: PromptLearner, episode: Episode, *, chunk: int) -> Iterator[Student]:
    """Every learned prompt and projection of a MaPLe model: both towers move."""
    with _gradients(), ExitStack() as stack:
        stack.callback(encoder.restore_prompts, encoder.snapshot_prompts())
        parameters = [parameter.requires_grad_() for parameter in encoder.prompt_parameters().values()]
        features = torch.tensor(episode.features, device=parameters[0].device)

        def views(chosen: Int64, taps: int) -> Tapped:
            return encoder.view_features(episode.pixels[chosen], taps=taps)

        def text() -> Tensor:
            return encoder.class_features(episode.class_names, chunk=chunk)

        yield Student(parameters, text, views, features, encoder.logit_scale, encoder.logit_bias)


@contextmanager
def vision_student(encoder: VisionTunable, episode: Episode, *, start: Snapshot | None = None) -> Iterator[Student]:
    """Every weight of the vision tower, from its own values or from `start`; the class features stay the episode's."""
    # Differs: RLCF tunes in train() mode, which would let the batch norms of a ResNet drift; transformers have none.
    with _gradients(), ExitStack() as stack:
        stack.callback(encoder.restore_vision, encoder.snapshot_vision())
        if start is not None:
            encoder.restore_vision(start)
        parameters = [parameter.requires_grad_() for parameter in encoder.vision_parameters()]
        device = parameters[0].device
        text = torch.tensor(episode.text, device=device)

        def views(chosen: Int64, taps: int) -> Tapped:
            del taps
            return encoder.image_features_with_grad(episode.pixels[chosen]), ()

        rows = episode.features if start is None else encoder.encode_images(episode.pixels)
        features = torch.tensor(rows, device=device)
        yield Student(parameters, lambda: text, views, features, encoder.logit_scale, encoder.logit_bias)


@contextmanager
def _gradients() -> Iterator[None]:
    """Gradients on, whatever the caller runs under: classifying inside torch.inference_mode() is a habit of many."""
    with torch.inference_mode(mode=False), torch.enable_grad():
        yield
