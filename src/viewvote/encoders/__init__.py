"""One file per model family; `load_encoder("scheme:rest")` finds it."""

import re
from collections.abc import Callable
from typing import get_args

from ..errors import UsageError
from ..registry import Entry, Registry, unknown_name
from .base import BaseEncoder, Dtype, Encoder, LoadOptions, Precision, Runtime, checked_encoder

__all__ = ["SCHEMES", "BaseEncoder", "Encoder", "LoadOptions", "load_encoder", "split_model_id"]

Loader = Callable[[str, LoadOptions], Encoder]

SCHEMES: Registry[Loader] = Registry(
    "model scheme",
    {
        "pocket": Entry(
            "viewvote.encoders.pocket.pack:load", "the embedded model: offline, without torch (the default)"
        ),
        "pocket-torch": Entry(
            "viewvote.encoders.pocket.in_torch:load", "the embedded model in torch, for tuning", "torch"
        ),
        "clip-b16": Entry(
            "viewvote.encoders.clip_b16.encoder:load",
            "OpenAI's CLIP ViT-B/16 image tower, a text side of our own",
            "clip-b16",
        ),
        "toy": Entry("viewvote.encoders.toy:load", "mean colours against colour words: a test double"),
        "onnx": Entry(
            "viewvote.encoders.onnx.encoder:load", "an exported pack or an ONNX CLIP repository, without torch"
        ),
        "open_clip": Entry("viewvote.encoders.torch.open_clip:load", "any open_clip model, ARCH/WEIGHTS", "torch"),
        "hf": Entry("viewvote.encoders.torch.hf:load", "CLIP, SigLIP and SigLIP 2 from transformers", "torch"),
        "coop": Entry(
            "viewvote.encoders.torch.coop:load", "a CoOp checkpoint on a CLIP model, CHECKPOINT@MODEL", "torch"
        ),
        "maple": Entry(
            "viewvote.encoders.torch.maple:load", "a MaPLe checkpoint on a CLIP model, CHECKPOINT@MODEL", "torch"
        ),
    },
)


_SINGLE = ("pocket", "pocket-torch", "clip-b16", "toy")
"""Schemes that are one model, so that nothing may follow them."""

_DEVICE = re.compile(r"auto|cpu|mps|cuda(:\d+)?")


def split_model_id(model_id: str) -> tuple[str, str]:
    """("open_clip", "ViT-B-16/openai") of "open_clip:ViT-B-16/openai"; the rest is empty for plain names."""
    scheme, _, rest = model_id.partition(":")
    if scheme not in SCHEMES:
        raise unknown_name("model", model_id if scheme == model_id else scheme, SCHEMES)
    return scheme, rest


def load_encoder(model_id: str, options: LoadOptions | None = None) -> Encoder:
    """The encoder that `model_id` names."""
    scheme, rest = split_model_id(model_id)
    options = _checked(options or LoadOptions())
    if scheme in _SINGLE and ":" in model_id:
        raise UsageError(f"{scheme!r} is one model and has no variants; write {scheme!r} instead of {model_id!r}.")
    if not rest and ":" in model_id:
        raise UsageError(f"model id {model_id!r} names nothing after the scheme; expected {scheme}:NAME.")
    return checked_encoder(SCHEMES.get(scheme)(rest, options), role=f"what {model_id!r} loads")


def _checked(options: LoadOptions) -> LoadOptions:
    """The options, or an error for a value that no family of models knows."""
    if not _DEVICE.fullmatch(options.device):
        raise UsageError(f"device {options.device!r} is unknown; expected auto, cpu, cuda, cuda:1 or mps.")
    for name, kind in (("dtype", Dtype), ("runtime", Runtime), ("precision", Precision)):
        if (value := getattr(options, name)) not in get_args(kind):
            raise unknown_name(name, value, get_args(kind))
    return options
