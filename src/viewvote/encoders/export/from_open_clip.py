"""What of an open_clip model goes into a pack."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import torch

from ...errors import UnsupportedEncoderError
from ..torch.class_token import class_token_features, reads_class_token, written_out_attention
from .clip_tokenizer import Cleaning, cleaning_steps, clip_tokenizer_json, with_normalizers
from .parts import CallOf, ExportParts, fast_tokenizer_json, on_cpu

if TYPE_CHECKING:
    from ..torch.open_clip import OpenClipEncoder


def open_clip_parts(encoder: "OpenClipEncoder") -> ExportParts:
    """The parts of an open_clip model as it is."""
    model: Any = on_cpu(encoder.model)
    tokenizer = encoder.tokenizer
    text = getattr(model, "text", model)
    causal = getattr(text, "attn_mask", None) is not None and getattr(text, "cls_emb", None) is None
    pooled_at_end = getattr(text, "pool_type", getattr(text, "text_pool_type", "argmax")) in {"argmax", "eos"}
    short = causal and pooled_at_end
    return ExportParts(
        vision=CallOf(model, _vision(model)),
        text=_ShortClipText(model) if short and text is model else CallOf(model, model.encode_text),
        text_inputs=("input_ids",),
        tokenizer_json=_tokenizer_json(tokenizer, encoder.model_id),
        context_length=int(tokenizer.context_length),
        pad_id=int(getattr(getattr(tokenizer, "tokenizer", None), "pad_token_id", None) or 0),
        # A causal tower read at the end token never sees padding, so short texts may stay short.
        pad_to="longest" if short else "max",
    )


def _vision(model: Any) -> Callable[[torch.Tensor], Any]:
    if not reads_class_token(model.visual):
        return model.encode_image  # type: ignore[no-any-return]
    return partial(class_token_features, model.visual, attend=written_out_attention)


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


def _tokenizer_json(tokenizer: Any, model_id: str) -> str:
    if hasattr(tokenizer, "bpe_ranks"):
        return simple_tokenizer_json(tokenizer)
    if getattr(tokenizer, "strip_sep_token", False) or getattr(tokenizer, "tokenizer_mode", ""):
        raise UnsupportedEncoderError(f"{model_id} edits token ids after its tokenizer, which a pack cannot hold.")
    source = fast_tokenizer_json(tokenizer.tokenizer, model_id)
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
