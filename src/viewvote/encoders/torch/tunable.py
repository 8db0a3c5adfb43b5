"""What a method may ask of an encoder beyond features: tuned contexts, deep prompts, a tuned vision tower.

Each ability is a protocol checked by `isinstance`, never by model name. Torch is imported by those who implement them.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from ...arrays import UInt8
from ...errors import UnsupportedEncoderError
from ..base import Encoder

if TYPE_CHECKING:
    from torch import Tensor, device
    from torch.nn import Parameter

Snapshot = Mapping[str, "Tensor"]


@runtime_checkable
class PromptTunable(Encoder, Protocol):
    """An encoder whose prompts may carry free context vectors in place of their first words (TPT, CoOp).

    A prompt is tokenised as `placeholder + " " + name + "."`. The tokens right after the start token are replaced by
    the rows of `context`; everything behind them, the end token's position included, stays where it was.
    """

    @property
    def device(self) -> "device":
        """Where the towers live; contexts are best created there."""
        ...

    @property
    def context_length(self) -> int:
        """Number of token positions of the text tower, start and end tokens included."""
        ...

    @property
    def text_width(self) -> int:
        """Length of a context vector."""
        ...

    def initial_context(self, words: str) -> "Tensor":
        """Token embeddings (context, width) of `words` in float32: the usual place to start from."""
        ...

    def text_features_from_context(
        self,
        context: "Tensor",
        class_names: Sequence[str],
        *,
        placeholder: str | None = None,
        deep: Sequence["Tensor"] = (),
        chunk: int = 64,
    ) -> "Tensor":
        """Unit float32 features (classes, dim), differentiable in `context` and `deep`.

        placeholder  the words the context stands in for; None is one "X" per row of `context`. Words beyond the
                     context's rows keep their own embeddings (MaPLe: 2 rows on "a photo of a").
        deep         `deep[b - 1]` (context, width) replaces the same positions before block b = 1, 2, ...
        chunk        classes per forward pass; with gradients each chunk is recomputed in the backward pass, so memory
                     is bounded by one chunk and not by the number of classes
        """
        ...

    def image_features(self, views: UInt8) -> "Tensor":
        """Unit float32 features (views, dim) without gradients, usable inside a graph."""
        ...


@runtime_checkable
class DeepPromptTunable(PromptTunable, Protocol):
    """A PromptTunable whose vision tower takes prompts too (MaPLe, PromptAlign)."""

    @property
    def text_depth(self) -> int:
        """Number of blocks of the text tower."""
        ...

    @property
    def vision_depth(self) -> int:
        """Number of blocks of the vision tower."""
        ...

    @property
    def vision_width(self) -> int:
        """Length of a vision prompt vector."""
        ...

    def image_features_with_prompts(
        self, views: UInt8, prompts: "Tensor", *, deep: Sequence["Tensor"] = (), taps: int = 0
    ) -> tuple["Tensor", tuple["Tensor", ...]]:
        """Unit float32 features (views, dim) and the inputs (views, tokens, width) of the first `taps` blocks.

        `prompts` (context, width) are appended behind the patches, after the positions were added and before the
        first norm; `deep[b - 1]` replaces them before block b = 1, 2, ... A tapped input is what the block sees,
        prompts included. Differentiable in everything that requires gradients; all views go in one batch.
        """
        ...


@runtime_checkable
class VisionTunable(Encoder, Protocol):
    """An encoder whose vision tower may be tuned and put back (RLCF)."""

    def vision_parameters(self) -> list["Parameter"]:
        """The vision tower's parameters, frozen; who tunes them sets `requires_grad` and calls `restore_vision`."""
        ...

    def image_features_with_grad(self, views: UInt8) -> "Tensor":
        """Unit float32 features (views, dim), differentiable in the vision parameters; all views in one batch."""
        ...

    def snapshot_vision(self) -> Snapshot:
        """A copy of the vision tower's parameters and buffers."""
        ...

    def restore_vision(self, snapshot: Snapshot) -> None:
        """Put a snapshot back bit for bit, drop gradients and freeze the tower again."""
        ...


def require_prompt_tunable(encoder: Encoder, *, method: str = "this method") -> PromptTunable:
    """The encoder itself; UnsupportedEncoderError with what it lacks."""
    if isinstance(encoder, PromptTunable):
        return encoder
    raise _lacks(encoder, method, "tunes context vectors inside the text tower")


def require_deep_prompt_tunable(encoder: Encoder, *, method: str = "this method") -> DeepPromptTunable:
    """The encoder itself; UnsupportedEncoderError with what it lacks."""
    if isinstance(encoder, DeepPromptTunable):
        return encoder
    raise _lacks(encoder, method, "puts prompts into the blocks of both towers")


def require_vision_tunable(encoder: Encoder, *, method: str = "this method") -> VisionTunable:
    """The encoder itself; UnsupportedEncoderError with what it lacks."""
    if isinstance(encoder, VisionTunable):
        return encoder
    raise _lacks(encoder, method, "tunes the weights of the vision tower")


def _lacks(encoder: Encoder, method: str, what: str) -> UnsupportedEncoderError:
    own = "pocket-torch, which is the same model, or " if encoder.model_id == "pocket" else ""
    return UnsupportedEncoderError(
        f"{method} {what}, which {encoder.model_id!r} does not allow. Use {own}a CLIP model in torch with a standard "
        "transformer, such as open_clip:ViT-B-16/openai or hf:openai/clip-vit-base-patch16."
    )
