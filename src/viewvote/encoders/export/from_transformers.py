"""What of a transformers model goes into a pack."""

from typing import TYPE_CHECKING, Any

import torch
from tokenizers import normalizers

from .clip_tokenizer import with_normalizers
from .parts import CallOf, ExportParts, fast_tokenizer_json, on_cpu

if TYPE_CHECKING:
    from ..torch.hf import HFEncoder


def transformers_parts(encoder: "HFEncoder") -> ExportParts:
    """The parts of a transformers model as it is."""
    model: Any = on_cpu(encoder.model)
    siglip, tokenizer = encoder.is_siglip, encoder.tokenizer
    source = fast_tokenizer_json(tokenizer, encoder.model_id)
    return ExportParts(
        vision=CallOf(model, lambda pixels: _features(model.get_image_features(pixel_values=pixels))),
        text=CallOf(model, lambda ids: _features(model.get_text_features(input_ids=ids))),
        text_inputs=("input_ids",),
        tokenizer_json=with_normalizers(source, [normalizers.Lowercase()] if siglip else []),
        context_length=int(encoder.context_length),
        pad_id=int(tokenizer.pad_token_id or 0),
        pad_to="max" if siglip else "longest",
    )


def _features(output: Any) -> Any:
    return output if isinstance(output, torch.Tensor) else output.pooler_output
