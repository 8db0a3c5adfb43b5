"""From one image's features to its Prediction: text head, method, teacher, trace."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..encoders import Encoder
from ..encoders.text_head import BLOCK, TextHead
from ..errors import UsageError
from ..methods import Decision, Episode, Method, StreamingMethod, Teacher, TuningMethod, ViewLogits
from ..methods.base import Stream, TrainingFreeMethod
from ..prediction import Evidence, Float32, Int64, Prediction, Trace, ViewTrace
from ..views.crops import View
from ..views.sample import Sample
from .evidence import gather_evidence


@dataclass(frozen=True)
class Answerer:
    """What a classifier knows apart from the images; `decider` is its method, or the stream of a streaming method."""

    labels: tuple[str, ...]
    method: Method
    decider: TrainingFreeMethod | TuningMethod | Stream
    encoder: Encoder
    text_head: TextHead
    teacher: Encoder | None
    teacher_head: TextHead | None
    abstain_below: float
    evidence: bool

    def logits(self, features: Float32, known: Float32) -> Float32:
        """The logits (views, classes) of one image's views; `known` are those of the first ones, from earlier rounds.

        Whole blocks of them stay as they are. So the first views of a full run have the same logits to the last bit as
        those of an image that stops there, and no product is computed twice.
        """
        whole = len(known) - len(known) % BLOCK
        return np.concatenate([known[:whole], self.text_head.logits(features[whole:], self.encoder)])

    def predict(
        self,
        sample: Sample,
        features: Float32,
        logits: Float32,
        *,
        said: dict[int, Float32],
        encode: float,
        look: float,
        stop: str | None,
    ) -> Prediction:
        """The prediction for the views seen.

        `said` is what the teacher has said of views already; `encode` and `look` are the seconds spent on features and
        logits.
        """
        start = perf_counter()
        asked: dict[str, NDArray[Any]] = {}
        if isinstance(self.decider, TuningMethod):
            decision = self.decider.adapt(self._episode(sample, features, logits))
        else:
            decision = self.decider.decide(self._view_logits(sample, features, logits, said, asked))[0]
        evidence = gather_evidence(logits, tie_draw=sample.tie_draw, **asked) if self.evidence else None
        timings = {**sample.timings, "encode": encode, "decide": look + perf_counter() - start}
        model = self.encoder.model_id
        return Prediction(
            labels=self.labels,
            index=decision.index,
            confidence=decision.confidence,
            confidence_is=self.method.confidence_is,
            probability=decision.probability,
            scores=decision.scores,
            votes=decision.votes,
            method=self.method.name,
            model=model if self.teacher is None else f"{model} -> {self.teacher.model_id}",
            tie_break=decision.tie_break,
            abstained=decision.confidence < self.abstain_below,
            path=sample.path,
            timings={**timings, "total": sum(timings.values())},
            trace=_trace(sample.views[: len(logits)], decision, self.labels, evidence),
            notes=decision.notes,
            views_used=len(logits),
            stop=stop,
        )

    def _view_logits(
        self,
        sample: Sample,
        features: Float32,
        logits: Float32,
        said: dict[int, Float32],
        asked: dict[str, NDArray[Any]],
    ) -> ViewLogits:
        """What a training-free method decides on; what the teacher is asked and says is noted in `asked`."""

        def ask(kept: Int64) -> Float32:
            asked.update(kept=kept[0], teacher_logits=self.ask_teacher(sample, kept[0], said))
            return asked["teacher_logits"][None]

        return ViewLogits(
            logits=logits[None],
            logit_scale=self.encoder.logit_scale,
            logit_bias=self.encoder.logit_bias,
            scoring=self.encoder.scoring,
            tie_draws=[sample.tie_draw],
            features=features[None],
            text=self.text_head.features,
            teacher=ask if self.teacher is not None else None,
            teacher_scale=self.teacher.logit_scale if self.teacher is not None else 1.0,
            teacher_bias=self.teacher.logit_bias if self.teacher is not None else 0.0,
        )

    def _episode(self, sample: Sample, features: Float32, logits: Float32) -> Episode:
        """What a tuning method adapts to."""
        teacher = None
        if self.teacher is not None and self.teacher_head is not None:
            draw = partial(sample.pixels_for, spec=self.teacher.image_spec)
            teacher = Teacher(self.teacher, self.teacher_head.features, lambda chosen: draw(list(chosen)))
        text = self.text_head.features
        return Episode(self.encoder, self.labels, sample.pixels, features, logits, text, teacher)

    def ask_teacher(self, sample: Sample, views: Int64, said: dict[int, Float32]) -> Float32:
        """The teacher's logits (views, classes) of some views of one image; `said` remembers those already encoded."""
        if self.teacher is None or self.teacher_head is None:
            raise UsageError("this classifier has no teacher.")
        new = [view for view in views.tolist() if view not in said]
        if new:
            pixels = sample.pixels_for(new, self.teacher.image_spec)
            said.update(
                zip(new, self.teacher_head.logits(self.teacher.encode_images(pixels), self.teacher), strict=True)
            )
        rows = [said[view] for view in views.tolist()]
        return np.array(rows, dtype=np.float32).reshape(len(rows), len(self.labels))


def start_decider(method: Method) -> TrainingFreeMethod | TuningMethod | Stream:
    """What decides: the method itself, or for a streaming method a stream that has seen nothing."""
    return method.start() if isinstance(method, StreamingMethod) else method


def _trace(views: Sequence[View], decision: Decision, labels: Sequence[str], evidence: Evidence | None) -> Trace:
    rows = zip(
        views,
        decision.view_labels.tolist(),
        decision.view_entropy.tolist(),
        decision.view_top_probability.tolist(),
        decision.view_kept.tolist(),
        strict=True,
    )
    seen = tuple(ViewTrace(v.box, v.flip, labels[c], entropy, top, kept) for v, c, entropy, top, kept in rows)
    return Trace(seen, decision.marginal_before, decision.marginal_after, evidence)
