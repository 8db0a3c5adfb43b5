"""One file per method; `METHODS.get("zero")` is its class, a frozen dataclass of hyper-parameters."""

from ..registry import Entry, Registry
from .base import Decision, StreamingMethod, TrainingFreeMethod, ViewLogits, VotingMethod
from .tuning.episode import Episode, Teacher, TuningMethod

__all__ = [
    "METHODS",
    "Decision",
    "Episode",
    "Method",
    "StreamingMethod",
    "Teacher",
    "TrainingFreeMethod",
    "TuningMethod",
    "ViewLogits",
    "VotingMethod",
]

Method = TrainingFreeMethod | StreamingMethod | TuningMethod

METHODS: Registry[type[Method]] = Registry(
    "method",
    {
        "zero": Entry("viewvote.methods.zero:Zero", "ZERO: the confident views vote (the default)"),
        "zero-shot": Entry("viewvote.methods.baselines:ZeroShot", "the plain model on the source view"),
        "ensemble": Entry("viewvote.methods.ensemble:Ensemble", "zero-shot with the paper's seven templates"),
        "mean-logits": Entry("viewvote.methods.mean_logits:MeanLogits", "averaged logits of the confident views"),
        "mta": Entry("viewvote.methods.mta:Mta", "the mode of the views' features, by mean shift"),
        "tda": Entry("viewvote.methods.streaming.tda:Tda", "streaming: caches of past images correct the logits"),
        "dota": Entry("viewvote.methods.streaming.dota:Dota", "streaming: class statistics of past images"),
        "marginal": Entry("viewvote.methods.marginal:Marginal", "mean probability over the confident views"),
        "tpt": Entry(
            "viewvote.methods.tuning.tpt:Tpt", "TPT: prompts tuned to agree over the confident views", "torch"
        ),
        "promptalign": Entry(
            "viewvote.methods.tuning.promptalign:PromptAlign",
            "TPT on MaPLe, tokens aligned with source statistics",
            "torch",
        ),
        "rlcf": Entry("viewvote.methods.tuning.rlcf:Rlcf", "RLCF: tuned towards what a CLIP teacher rewards", "torch"),
    },
)
