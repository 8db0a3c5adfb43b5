"""One file per model family; `load_encoder("scheme:rest")` finds it."""

import logging
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import get_args

from ..errors import UsageError
from ..registry import Entry, Registry, unknown_name
from .at_hand import check_at_hand
from .base import (
    BaseEncoder,
    Dtype,
    Encoder,
    LoadOptions,
    Precision,
    Runtime,
    checked_encoder,
    checked_views,
    unit_rows,
)
from .reopening import remember

__all__ = [
    "SCHEMES",
    "BaseEncoder",
    "Encoder",
    "LoadOptions",
    "SchemeEntry",
    "checked_encoder",
    "checked_views",
    "load_encoder",
    "register_encoder",
    "scheme_entry",
    "split_model_id",
    "unit_rows",
]

Loader = Callable[[str, LoadOptions], Encoder]


@dataclass(frozen=True)
class SchemeEntry(Entry):
    """A family of models.

    single  it is one model, so that nothing may follow the scheme
    wraps   it puts learned prompts on a model of another scheme
    """

    single: bool = False
    wraps: bool = False


def _check_loader(name: str, loader: object) -> None:
    """Raise UsageError unless the object can be called."""
    if not callable(loader):
        raise UsageError(
            f"model scheme {name!r} is a {type(loader).__name__}; expected a function of the rest of the model id and "
            "LoadOptions that returns an Encoder."
        )


SCHEMES: Registry[Loader] = Registry(
    "model scheme",
    {
        "pocket": SchemeEntry(
            "viewvote.encoders.pocket.pack:load",
            "the embedded model: offline, without torch (the default)",
            single=True,
        ),
        "pocket-torch": SchemeEntry(
            "viewvote.encoders.pocket.in_torch:load", "the embedded model in torch, for tuning", "torch", single=True
        ),
        "clip-b16": SchemeEntry(
            "viewvote.encoders.clip_b16.encoder:load",
            "OpenAI's CLIP ViT-B/16 image tower, a text side of our own",
            single=True,
        ),
        "toy": SchemeEntry(
            "viewvote.encoders.toy:load", "mean colours against colour words: a test double", single=True
        ),
        "onnx": SchemeEntry(
            "viewvote.encoders.onnx.encoder:load", "an exported pack or an ONNX CLIP repository, without torch"
        ),
        "open_clip": SchemeEntry(
            "viewvote.encoders.torch.open_clip:load", "any open_clip model, ARCH/WEIGHTS", "torch"
        ),
        "hf": SchemeEntry("viewvote.encoders.torch.hf:load", "CLIP, SigLIP and SigLIP 2 from transformers", "torch"),
        "coop": SchemeEntry(
            "viewvote.encoders.torch.coop:load",
            "a CoOp checkpoint on a CLIP model, CHECKPOINT@MODEL",
            "torch",
            wraps=True,
        ),
        "maple": SchemeEntry(
            "viewvote.encoders.torch.maple:load",
            "a MaPLe checkpoint on a CLIP model, CHECKPOINT@MODEL",
            "torch",
            wraps=True,
        ),
    },
    group="viewvote.encoders",
    check=_check_loader,
)

logger = logging.getLogger("viewvote")
_DEVICE = re.compile(r"auto|cpu|mps|cuda(:\d+)?")


def split_model_id(model_id: str) -> tuple[str, str]:
    """("open_clip", "ViT-B-16/openai") of "open_clip:ViT-B-16/openai"; the rest is empty for plain names."""
    scheme, _, rest = model_id.partition(":")
    if scheme not in SCHEMES:
        error = unknown_name("model", model_id if scheme == model_id else scheme, SCHEMES)
        raise type(error)(f"{error}{_fuller(model_id)}") if scheme == model_id else error
    return scheme, rest


def _fuller(name: str) -> str:
    """How a name without a scheme may have been meant: as the hub, open_clip and OpenAI's package name models."""
    if re.fullmatch(r"(ViT-[BLHg]|RN\d+)\S*", name):
        return f" A model of open_clip is open_clip:ARCHITECTURE/WEIGHTS, as open_clip:{name.replace('/', '-')}/openai."
    if re.fullmatch(r"[\w.-]+/[\w.-]+", name):
        return f" A model of the Hugging Face hub is hf:{name}, open_clip:hf-hub:{name} or onnx:{name}, by its files."
    return ""


def scheme_entry(scheme: str) -> SchemeEntry:
    """The entry of a scheme; one of a plugin takes anything after it, or nothing."""
    entry = SCHEMES.entry(scheme)
    return entry if isinstance(entry, SchemeEntry) else SchemeEntry(**vars(entry))


def register_encoder(scheme: str, loader: Loader, *, summary: str | None = None) -> None:
    """Make models of your own known by the ids `SCHEME` and `SCHEME:REST`.

    Args:
        scheme: The first word of the model ids.
        loader: A function of what follows the colon (empty where nothing does) and LoadOptions to an Encoder.
        summary: One line for `viewvote models`; None is the first line of the loader's docstring.
    """
    SCHEMES.register(scheme, loader, summary=summary)


def load_encoder(model_id: str, options: LoadOptions | None = None) -> Encoder:
    """The encoder that `model_id` names."""
    scheme, rest = split_model_id(model_id)
    options = _checked(options or LoadOptions())
    if scheme_entry(scheme).single and ":" in model_id:
        raise UsageError(f"{scheme!r} is one model and has no variants; write {scheme!r} instead of {model_id!r}.")
    if not rest and ":" in model_id:
        raise UsageError(f"model id {model_id!r} names nothing after the scheme; expected {scheme}:NAME.")
    check_at_hand(scheme, rest, options)
    if (idle := _idle_options(scheme, options)) is not None:
        logger.warning(f"{model_id} {idle}")
    encoder = checked_encoder(SCHEMES.get(scheme)(rest, options), role=f"what {model_id!r} loads")
    return remember(encoder, model_id, options)


def _idle_options(scheme: str, options: LoadOptions) -> str | None:
    """What to say where options are asked for that the model's family has no use for; None of a plugin's."""
    entry = scheme_entry(scheme)
    if not entry.target.startswith(__name__):
        return None
    runs = "in torch" if entry.extra else "on the CPU, without torch"
    names, family = (("runtime", "precision"), "ONNX packs") if entry.extra else (("device", "dtype"), "torch models")
    usual = {"device": ("auto", "cpu"), "dtype": ("fp32",), "runtime": ("auto",), "precision": ("auto",)}
    idle = [f"{name} {value}" for name in names if (value := getattr(options, name)) not in usual[name]]
    return f"runs {runs}: {' and '.join(idle)} can only be had with {family}." if idle else None


def _checked(options: LoadOptions) -> LoadOptions:
    """The options, or an error for a value that no family of models knows."""
    if not _DEVICE.fullmatch(options.device):
        raise UsageError(f"device {options.device!r} is unknown; expected auto, cpu, cuda, cuda:1 or mps.")
    for name, kind in (("dtype", Dtype), ("runtime", Runtime), ("precision", Precision)):
        if (value := getattr(options, name)) not in get_args(kind):
            raise unknown_name(name, value, get_args(kind))
    return options
