"""What of an encoder goes into a pack, and the ability to hand it over."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import torch

from ...errors import UnsupportedEncoderError
from ..base import Encoder
from ..onnx.config import PadTo


@dataclass(frozen=True)
class ExportParts:
    """Two towers, a tokenizer, and the facts about texts that a pack states.

    Both modules are in eval mode, in float32 on the CPU. Their features may be of any length: the pack normalises them.

    vision          from normalised pixels, float32 (views, 3, size, size), to features (views, dim)
    text            from token ids, int64 (texts, context), to features (texts, dim)
    text_inputs     the text module's inputs in order: ("input_ids",) or ("input_ids", "attention_mask"), both int64
    tokenizer_json  the text of a `tokenizer.json` that gives the encoder's own ids, special tokens included, unpadded
    context_length  the most tokens a text may have, special tokens included
    pad_id          the token that fills a text up
    pad_to          "max" fills texts to `context_length` (open_clip, SigLIP), "longest" to the longest of a chunk
    """

    vision: torch.nn.Module
    text: torch.nn.Module
    text_inputs: tuple[str, ...]
    tokenizer_json: str
    context_length: int
    pad_id: int
    pad_to: PadTo


@runtime_checkable
class Exportable(Protocol):
    """An Encoder that can be written as a pack."""

    def export_parts(self) -> ExportParts:
        """What goes into the pack."""
        ...


def parts_of(encoder: Encoder) -> ExportParts:
    """The parts of an encoder; one that has none to give raises UnsupportedEncoderError."""
    if not isinstance(encoder, Exportable):
        raise UnsupportedEncoderError(
            f"{encoder.model_id} cannot be exported: expected an open_clip or transformers model, or an encoder with "
            "the method export_parts."
        )
    return encoder.export_parts()


class CallOf(torch.nn.Module):
    """A method of a model as a module: the model is a child, so that the exporter finds the weights."""

    def __init__(self, model: torch.nn.Module, method: Callable[[torch.Tensor], Any]) -> None:
        super().__init__()
        self.model, self.method = model, method

    def forward(self, x: torch.Tensor) -> Any:
        """What the method returns."""
        return self.method(x)


def on_cpu(model: torch.nn.Module) -> torch.nn.Module:
    """The model in float32 on the CPU; a copy where it is not there already."""
    there = all(p.device.type == "cpu" and p.dtype == torch.float32 for p in model.parameters())
    return model.eval() if there else deepcopy(model).float().cpu().eval()


def fast_tokenizer_json(tokenizer: Any, model_id: str) -> str:
    """The `tokenizer.json` of a tokenizer from transformers."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        raise UnsupportedEncoderError(f"{model_id} has no fast tokenizer, and a pack needs its tokenizer.json.")
    return str(backend.to_str())
