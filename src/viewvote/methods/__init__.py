"""One file per method; `METHODS.get("zero")` is its class, a frozen dataclass of hyper-parameters."""

from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from ..errors import UsageError
from ..registry import Entry, Registry
from .base import Decision, StreamingMethod, TrainingFreeMethod, ViewLogits, VotingMethod, probability_decision
from .tuning.episode import Episode, Teacher, TuningMethod

__all__ = [
    "METHODS",
    "Decision",
    "Episode",
    "Method",
    "MethodEntry",
    "StreamingMethod",
    "Teacher",
    "TrainingFreeMethod",
    "TuningMethod",
    "ViewLogits",
    "VotingMethod",
    "method_entry",
    "probability_decision",
    "register_method",
]

Method = TrainingFreeMethod | StreamingMethod | TuningMethod


@dataclass(frozen=True)
class MethodEntry(Entry):
    """A method's entry, with what reports must know of it; importing some methods would import torch.

    keep     the share of views it keeps by default; None for a method that keeps all, or looks at one
    streams  whether it learns from one image to the next, so that the order of images decides its answers; tables mark
             it as one that uses the test set's other images
    """

    keep: float | None = None
    streams: bool = False


def _check_class(name: str, cls: object) -> None:
    """Raise UsageError unless the class is a method of that name."""
    kinds = (TrainingFreeMethod, StreamingMethod, TuningMethod)
    if not isinstance(cls, type) or not is_dataclass(cls) or not issubclass(cls, kinds):
        raise UsageError(
            f"method {name!r} is {cls!r}; expected a frozen dataclass of hyper-parameters that inherits one of "
            f"{', '.join(kind.__name__ for kind in kinds)}."
        )
    if (own := getattr(cls, "name", None)) != name:
        raise UsageError(f"the class of method {name!r} has the name {own!r}; expected `name = {name!r}` in its body.")


METHODS: Registry[type[Method]] = Registry(
    "method",
    {
        "zero": MethodEntry(
            "viewvote.methods.zero:Zero",
            "ZERO: the confident views vote; the paper's, and the default of eval",
            keep=0.3,
        ),
        "anchored": MethodEntry(
            "viewvote.methods.anchored:Anchored",
            "ZERO's vote, in which the source view has a say (the default)",
            keep=0.3,
        ),
        "zero-shot": MethodEntry("viewvote.methods.baselines:ZeroShot", "the plain model on the source view"),
        "ensemble": MethodEntry("viewvote.methods.baselines:Ensemble", "zero-shot with the paper's seven templates"),
        "mean-logits": MethodEntry(
            "viewvote.methods.baselines:MeanLogits", "averaged logits of the confident views", keep=0.1
        ),
        "mta": MethodEntry("viewvote.methods.mta:Mta", "the mode of the views' features, by mean shift"),
        "tda": MethodEntry(
            "viewvote.methods.streaming.tda:Tda",
            "streaming: caches of past images correct the logits",
            keep=0.1,
            streams=True,
        ),
        "dota": MethodEntry(
            "viewvote.methods.streaming.dota:Dota",
            "streaming: class statistics of past images",
            keep=0.1,
            streams=True,
        ),
        "context": MethodEntry(
            "viewvote.methods.streaming.context:RunningContext",
            "streaming: what past images attract is taken off",
            keep=0.3,
            streams=True,
        ),
        "marginal": MethodEntry(
            "viewvote.methods.baselines:Marginal", "mean probability over the confident views", keep=0.1
        ),
        "tpt": MethodEntry(
            "viewvote.methods.tuning.tpt:Tpt", "TPT: prompts tuned to agree over the confident views", "torch", keep=0.1
        ),
        "promptalign": MethodEntry(
            "viewvote.methods.tuning.promptalign:PromptAlign",
            "TPT on MaPLe, tokens aligned with source statistics",
            "torch",
            keep=0.1,
        ),
        "rlcf": MethodEntry(
            "viewvote.methods.tuning.rlcf:Rlcf", "RLCF: tuned towards what a CLIP teacher rewards", "torch", keep=0.1
        ),
    },
    group="viewvote.methods",
    check=_check_class,
)


def register_method(name: str, cls: type[Method], *, summary: str | None = None) -> None:
    """Make a method of your own known by a name; its default keep and whether it streams are read off the class.

    Args:
        name: The public name, which is also the class's attribute `name`.
        cls: A frozen dataclass of hyper-parameters.
        summary: One line for `viewvote methods`; None is the first line of its docstring.
    """
    METHODS.register(name, cls, summary=summary)


def method_entry(name: str) -> MethodEntry:
    """The entry of a method; of one that was registered without these data they are read off its class.

    A name that no registry knows, as of a plugin that is not loaded, has an entry without data.
    """
    if name not in METHODS:
        return MethodEntry(target="", summary="")
    entry = METHODS.entry(name)
    if isinstance(entry, MethodEntry):
        return entry
    cls = METHODS.get(name)
    defaults: dict[str, Any] = {each.name: each.default for each in fields(cls)} if is_dataclass(cls) else {}
    return MethodEntry(
        entry.target, entry.summary, entry.extra, keep=defaults.get("keep"), streams=hasattr(cls, "start")
    )
