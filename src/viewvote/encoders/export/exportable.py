"""The seam between torch encoders and `viewvote export`: what an encoder must offer to be written as an ONNX pack."""

from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

from ..base import Encoder

if TYPE_CHECKING:
    import torch

PadTo = Literal["longest", "max"]
Scoring = Literal["softmax", "sigmoid"]


@runtime_checkable
class Exportable(Encoder, Protocol):
    """An Encoder whose two towers can be traced.

    Both modules are in eval mode, in float32 on the CPU, and share no state with the encoder that calling
    `.to(...)` on them would break. Features may leave them unnormalised: the pack normalises them.
    """

    @property
    def context_length(self) -> int:
        """The most tokens a text may have, special tokens included."""
        ...

    @property
    def pad_id(self) -> int:
        """The token that fills a text up."""
        ...

    @property
    def pad_to(self) -> PadTo:
        """ "max" fills every text to `context_length` (open_clip, SigLIP); "longest" to the longest of its chunk."""
        ...

    @property
    def scoring(self) -> Scoring:
        """How scores become probabilities: "softmax" (CLIP) or "sigmoid" (SigLIP)."""
        ...

    @property
    def text_inputs(self) -> tuple[str, ...]:
        """The inputs of `text_module` in order: ("input_ids",) or ("input_ids", "attention_mask"), both int64."""
        ...

    def vision_module(self) -> "torch.nn.Module":
        """A module from normalised pixels, float32 (views, 3, size, size), to features (views, dim)."""
        ...

    def text_module(self) -> "torch.nn.Module":
        """A module from token ids, int64 (texts, context), to features (texts, dim)."""
        ...

    def tokenizer_json(self) -> str:
        """The text of a `tokenizer.json` that gives the encoder's own ids, special tokens included, unpadded."""
        ...
