"""Context on a stream: what the images so far attract is taken off before a training-free method decides the next."""

from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil

import numpy as np

from ...arrays import Float32
from ...context.published import PUBLISHED
from ...context.rule import LEAST_PHOTOS, estimate
from ...context.sample import LogitSample
from ...registry import unknown_name
from ..anchored import Anchored
from ..base import Decision, Stream, StreamingMethod, TrainingFreeMethod, ViewLogits
from ..baselines import ZeroShot
from ..zero import Zero

VOTES = ("anchored", "zero", "zero-shot")
RULE = "rule"
PULLS = (RULE, *PUBLISHED)


@dataclass(frozen=True)
class RunningContext(StreamingMethod):
    """The context of a folder (docs/guides/context.md) of the images before and this one, in the order they come.

    vote    what decides on the logits that are left: "anchored", "zero" or "zero-shot"
    keep    the share of views that vote
    pull    what is taken off: "rule", or as the authors of other corrections do, whatever the mix: "dn", "frolic"
    growth  the pull is estimated again when so many times as many images have been seen: every time would cost the more
            the longer the stream
    """

    vote: str = "anchored"
    keep: float = 0.3
    pull: str = RULE
    growth: float = 1.1

    name = "context"

    def __post_init__(self) -> None:
        if self.vote not in VOTES:
            raise unknown_name("vote", self.vote, VOTES)
        if self.pull not in PULLS:
            raise unknown_name("pull", self.pull, PULLS)

    @cached_property
    def decider(self) -> TrainingFreeMethod:
        """The method that decides."""
        if self.vote == "zero-shot":
            return ZeroShot()
        return Zero(keep=self.keep) if self.vote == "zero" else Anchored(keep=self.keep)

    def offsets(self, logits: Float32) -> Float32:
        """What is taken off, from the logits (images, labels) of the source views so far."""
        if self.pull == RULE:
            return estimate(logits).offsets
        return PUBLISHED[self.pull](logits.astype(np.float64)).astype(np.float32)

    @property
    def asks_likeness(self) -> bool:
        """As the method that decides."""
        return self.decider.asks_likeness

    def views_used(self, n_views: int) -> int:
        """As many as the method that decides."""
        return self.decider.views_used(n_views)

    def start(self) -> "ContextStream":
        """A stream that has seen nothing."""
        return ContextStream(self)


class ContextStream(Stream):
    """The source views' logits so far, and what they take off."""

    def __init__(self, method: RunningContext) -> None:
        self.method = method
        self._sample = LogitSample()
        self._seen = 0
        self._next = LEAST_PHOTOS
        self._offsets: Float32 | None = None

    def decide(self, views: ViewLogits) -> Decision:
        """The decision for the next image, which counts among those it is decided by."""
        self._sample.add(views.logits[0])
        self._seen += 1
        if self._seen >= self._next:
            self._offsets = self.method.offsets(self._sample.rows())
            self._next = max(self._seen + 1, ceil(self._seen * self.method.growth))
        if self._offsets is None:
            return self.method.decider.decide(views)
        less = replace(views, logits=views.logits - self._offsets, offsets=self._offsets)
        return replace(self.method.decider.decide(less), seen=less)
