"""One file per method; `METHODS.get("zero")` is its class, a frozen dataclass of hyper-parameters."""

from ..registry import Entry, Registry
from .base import Decision, Method, StreamingMethod, TrainingFreeMethod, ViewLogits

__all__ = ["METHODS", "Decision", "Method", "StreamingMethod", "TrainingFreeMethod", "ViewLogits"]

METHODS: Registry[type[Method]] = Registry(
    "method",
    {
        "zero": Entry("viewvote.methods.zero:Zero", "ZERO: the confident views vote (the default)"),
        "zero-shot": Entry("viewvote.methods.zero_shot:ZeroShot", "the plain model on the source view"),
        "ensemble": Entry("viewvote.methods.ensemble:Ensemble", "zero-shot with the paper's seven templates"),
        "mean-logits": Entry("viewvote.methods.mean_logits:MeanLogits", "averaged logits of the confident views"),
        "mta": Entry("viewvote.methods.mta:Mta", "the mode of the views' features, by mean shift"),
        "tda": Entry("viewvote.methods.streaming.tda:Tda", "streaming: caches of past images correct the logits"),
        "dota": Entry("viewvote.methods.streaming.dota:Dota", "streaming: class statistics of past images"),
        "marginal": Entry("viewvote.methods.marginal:Marginal", "mean probability over the confident views"),
    },
)
