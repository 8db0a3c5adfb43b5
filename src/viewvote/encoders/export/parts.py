"""What of an encoder goes into a pack: from any Exportable, and from open_clip and transformers models as they are."""

import inspect
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch

from ...errors import UnsupportedEncoderError
from ..base import Encoder
from .clip_tokenizer import Cleaning, cleaning_steps, clip_tokenizer_json, with_normalizers
from .exportable import Exportable, PadTo, Scoring


@dataclass(frozen=True)
class ExportParts:
    """Two towers, a tokenizer, and the facts about texts that a pack states."""

    vision: torch.nn.Module
    text: torch.nn.Module
    text_inputs: tuple[str, ...]
    tokenizer_json: str
    context_length: int
    pad_id: int
    pad_to: PadTo
    scoring: Scoring


def parts_of(encoder: Encoder) -> ExportParts:
    """The parts of an encoder, or an error where it has towers that no pack can hold."""
    if isinstance(encoder, Exportable):
        return ExportParts(
            vision=encoder.vision_module(),
            text=encoder.text_module(),
            text_inputs=encoder.text_inputs,
            tokenizer_json=encoder.tokenizer_json(),
            context_length=encoder.context_length,
            pad_id=encoder.pad_id,
            pad_to=encoder.pad_to,
            scoring=encoder.scoring,
        )
    model, tokenizer = getattr(encoder, "model", None), getattr(encoder, "tokenizer", None)
    if isinstance(model, torch.nn.Module) and tokenizer is not None and _is_plain(encoder):
        if hasattr(model, "encode_image") and hasattr(model, "encode_text"):
            return _open_clip_parts(encoder, _on_cpu(model), tokenizer)
        if hasattr(model, "get_image_features") and _takes_pixels_only(model.get_image_features):
            return _transformers_parts(encoder, _on_cpu(model), tokenizer)
    raise UnsupportedEncoderError(
        f"{encoder.model_id} cannot be exported: expected an open_clip or transformers model, or an encoder with the "
        "Exportable methods (vision_module, text_module, tokenizer_json, ...)."
    )


def _is_plain(encoder: Encoder) -> bool:
    """Whether the model is used as it is; wrappers with learned prompts have towers of their own."""
    return encoder.model_id.partition(":")[0] in {"open_clip", "hf"}


def _open_clip_parts(encoder: Any, model: Any, tokenizer: Any) -> ExportParts:
    text = getattr(model, "text", model)
    causal = getattr(text, "attn_mask", None) is not None and getattr(text, "cls_emb", None) is None
    pooled_at_end = getattr(text, "pool_type", getattr(text, "text_pool_type", "argmax")) in {"argmax", "eos"}
    short = causal and pooled_at_end
    return ExportParts(
        vision=_Call(model, _open_clip_vision(model)),
        text=_ShortClipText(model) if short and text is model else _Call(model, model.encode_text),
        text_inputs=("input_ids",),
        tokenizer_json=_open_clip_tokenizer_json(tokenizer, encoder.model_id),
        context_length=int(tokenizer.context_length),
        pad_id=int(getattr(getattr(tokenizer, "tokenizer", None), "pad_token_id", None) or 0),
        # A causal tower read at the end token never sees padding, so short texts may stay short.
        pad_to="longest" if short else "max",
        scoring=_scoring(encoder),
    )


def _open_clip_vision(model: Any) -> Callable[[torch.Tensor], Any]:
    from ..torch.class_token import (  # it is open_clip's model
        class_token_features,
        reads_class_token,
        written_out_attention,
    )

    if not reads_class_token(model.visual):
        return model.encode_image  # type: ignore[no-any-return]
    return partial(class_token_features, model.visual, attend=written_out_attention)


def _transformers_parts(encoder: Any, model: Any, tokenizer: Any) -> ExportParts:
    siglip = "siglip" in model.config.model_type
    source = _fast_tokenizer_json(tokenizer, encoder.model_id)
    return ExportParts(
        vision=_Call(model, lambda pixels: _features(model.get_image_features(pixel_values=pixels))),
        text=_Call(model, lambda ids: _features(model.get_text_features(input_ids=ids))),
        text_inputs=("input_ids",),
        tokenizer_json=with_normalizers(source, _lowercase() if siglip else []),
        context_length=int(encoder.context_length),
        pad_id=int(tokenizer.pad_token_id or 0),
        pad_to="max" if siglip else "longest",
        scoring=_scoring(encoder),
    )


class _Call(torch.nn.Module):
    """A method of a model as a module: the model is a child, so that the exporter finds the weights."""

    def __init__(self, model: torch.nn.Module, method: Callable[[torch.Tensor], Any]) -> None:
        super().__init__()
        self.model, self.method = model, method

    def forward(self, x: torch.Tensor) -> Any:
        return self.method(x)


class _ShortClipText(torch.nn.Module):
    """The text tower of open_clip's CLIP for texts of any length; its own `encode_text` insists on a full context."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(self, ids: torch.Tensor) -> Any:
        model: Any = self.model
        length = ids.shape[1]
        x = model.token_embedding(ids) + model.positional_embedding[:length]  # (texts, length, width)
        x = model.ln_final(model.transformer(x, attn_mask=model.attn_mask[:length, :length]))
        x = x[torch.arange(ids.shape[0]), _end_positions(model, ids)]
        projection = model.text_projection
        if projection is None:
            return x
        return projection(x) if isinstance(projection, torch.nn.Linear) else x @ projection


def _end_positions(model: Any, ids: torch.Tensor) -> torch.Tensor:
    if getattr(model, "text_pool_type", "argmax") == "argmax":
        return ids.argmax(dim=-1)
    return ids.eq(model.text_eos_id).int().argmax(dim=-1)


def _on_cpu(model: torch.nn.Module) -> torch.nn.Module:
    """The model in float32 on the CPU; a copy where it is not there already."""
    there = all(p.device.type == "cpu" and p.dtype == torch.float32 for p in model.parameters())
    return model.eval() if there else deepcopy(model).float().cpu().eval()


def _features(output: Any) -> Any:
    return output if isinstance(output, torch.Tensor) else output.pooler_output


def _takes_pixels_only(method: Any) -> bool:
    return "spatial_shapes" not in inspect.signature(method).parameters


def _scoring(encoder: Any) -> Scoring:
    return "sigmoid" if getattr(encoder, "scoring", "softmax") == "sigmoid" else "softmax"


def _open_clip_tokenizer_json(tokenizer: Any, model_id: str) -> str:
    if hasattr(tokenizer, "bpe_ranks"):
        return simple_tokenizer_json(tokenizer)
    if getattr(tokenizer, "strip_sep_token", False) or getattr(tokenizer, "tokenizer_mode", ""):
        raise UnsupportedEncoderError(f"{model_id} edits token ids after its tokenizer, which a pack cannot hold.")
    source = _fast_tokenizer_json(tokenizer.tokenizer, model_id)
    return with_normalizers(source, cleaning_steps(_cleaning(tokenizer)))


def simple_tokenizer_json(tokenizer: Any) -> str:
    """The `tokenizer.json` of open_clip's SimpleTokenizer."""
    start, end = (tokenizer.decoder[i] for i in (tokenizer.sot_token_id, tokenizer.eot_token_id))
    return clip_tokenizer_json(
        vocabulary=tokenizer.encoder,
        merges=sorted(tokenizer.bpe_ranks, key=tokenizer.bpe_ranks.__getitem__),
        start=start,
        end=end,
        cleaning=_cleaning(tokenizer),
    )


def _cleaning(tokenizer: Any) -> Cleaning:
    """Which of open_clip's cleaning functions a tokenizer uses."""
    name = getattr(tokenizer.clean_fn, "__name__", "").removeprefix("_clean_")
    choices: dict[str, Cleaning] = {"lower": "lower", "canonicalize": "canonicalize"}
    return choices.get(name, "whitespace")


def _fast_tokenizer_json(tokenizer: Any, model_id: str) -> str:
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        raise UnsupportedEncoderError(f"{model_id} has no fast tokenizer, and a pack needs its tokenizer.json.")
    return str(backend.to_str())


def _lowercase() -> list[Any]:
    from tokenizers import normalizers

    return [normalizers.Lowercase()]
