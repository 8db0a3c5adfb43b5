"""One file per model family; `load_encoder("scheme:rest")` finds it."""

from collections.abc import Callable

from ..errors import UsageError
from ..registry import Entry, Registry, unknown_name
from .base import Encoder, LoadOptions

__all__ = ["SCHEMES", "Encoder", "LoadOptions", "load_encoder", "split_model_id"]

Loader = Callable[[str, LoadOptions], Encoder]

SCHEMES: Registry[Loader] = Registry(
    "model scheme",
    {
        "pocket": Entry("viewvote.encoders.pocket:load", "the embedded model: offline, without torch (the default)"),
        "pocket-torch": Entry(
            "viewvote.encoders.pocket_torch:load", "the embedded model in torch, for tuning", "torch"
        ),
        "toy": Entry("viewvote.encoders.toy:load", "mean colours against colour words: a test double"),
        "onnx": Entry("viewvote.encoders.onnx_pack:load", "an exported pack or an ONNX CLIP repository, without torch"),
        "open_clip": Entry("viewvote.encoders.open_clip:load", "any open_clip model, ARCH/WEIGHTS", "torch"),
        "hf": Entry("viewvote.encoders.hf:load", "CLIP, SigLIP and SigLIP 2 from transformers", "torch"),
        "coop": Entry("viewvote.encoders.coop:load", "a CoOp checkpoint on a CLIP model, CHECKPOINT@MODEL", "torch"),
        "maple": Entry("viewvote.encoders.maple:load", "a MaPLe checkpoint on a CLIP model, CHECKPOINT@MODEL", "torch"),
    },
)


def split_model_id(model_id: str) -> tuple[str, str]:
    """("open_clip", "ViT-B-16/openai") of "open_clip:ViT-B-16/openai"; the rest is empty for plain names."""
    scheme, _, rest = model_id.partition(":")
    if scheme not in SCHEMES:
        raise unknown_name("model", model_id if scheme == model_id else scheme, SCHEMES)
    return scheme, rest


def load_encoder(model_id: str, options: LoadOptions | None = None) -> Encoder:
    """The encoder that `model_id` names."""
    scheme, rest = split_model_id(model_id)
    if not rest and ":" in model_id:
        raise UsageError(f"model id {model_id!r} names nothing after the scheme; expected {scheme}:NAME.")
    return SCHEMES.get(scheme)(rest, options or LoadOptions())
