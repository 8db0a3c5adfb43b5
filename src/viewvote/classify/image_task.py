"""One image on its way through rounds of views to its Prediction."""

from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter

import numpy as np

from ..arrays import Float32, Float64, Int64, UInt8
from ..encoders import Encoder
from ..encoders.text_head import BLOCK
from ..errors import ImageError, NonFiniteError, UsageError, ViewvoteError
from ..methods import Decision, Episode, Teacher, TuningMethod, ViewLogits, VotingMethod
from ..prediction import Prediction, Trace
from ..stopping import Confident, Exact, StoppingRule
from ..stopping.rules import aligned_rounds
from ..views.sample import Sample
from .evidence import gather_evidence
from .likelihood import likelihood_of
from .setup import Setup
from .teacher import TeacherAnswers

ALL_VIEWS = "all views"


class ImageTask:
    """A sample whose views are encoded in rounds until a rule or the budget ends it (a Task of the scheduler).

    Without a rule there is one round of all views. The rule looks at the student's labels and ranking. In a cascade the
    teacher is asked where these settle the answer, about the views kept of those seen, and its labels must settle it
    too; the exact rule must know them before, on the views that are kept whatever comes.

    answer           the prediction, or the error of this image; None while views are wanted
    features, seen   of the views encoded so far; `seen` is None before the first round
    teacher          what a teacher answered so far; None without one
    seconds          spent on this image after it was drawn: "encode" and "decide"
    stop             why the rounds ended, where a rule is at work
    """

    def __init__(self, sample: Sample, setup: Setup, *, ends: Sequence[int]) -> None:
        self.answer: Prediction | ViewvoteError | None = None
        self.sample = sample
        self.setup = setup
        self.features: Float32 = np.zeros((0, setup.model.encoder.dim), dtype=np.float32)
        self.seen: ViewLogits | None = None
        self.teacher = None if setup.teacher is None else TeacherAnswers(setup.teacher, sample)
        self.seconds = {"encode": 0.0, "decide": 0.0}
        self.stop: str | None = None
        self._say: Float64 | None = None
        self._ends = list(ends)
        self._most = self._ends[-1] if ends else 0

    @property
    def wanted(self) -> range:
        """The views of the next round."""
        return range(len(self.features), self._ends[0])

    def views(self, start: int, end: int) -> UInt8:
        """The pixels of the views from `start` to before `end`; blank ones where the image then fails."""
        try:
            return self.sample.draw(start, end)
        except ImageError as error:
            self.answer = error
            return blank_views(end - start, self.setup.model.encoder)

    def receive(self, features: Float32, seconds: float) -> None:
        """Answer, or start to draw the views of the next round."""
        if self.answer is not None:
            return
        start = perf_counter()
        self.seconds["encode"] += seconds
        self._ends.pop(0)
        try:
            self.seen = views = self._scored(features)
            self.stop = self._reason_to_stop(views)
            if self.stop is None and self._ends:
                self.seconds["decide"] += perf_counter() - start
                self.sample.draw_ahead(self._ends[0])
            else:
                self.answer = self._predict(views, start)
                self.sample.let_go()
        except (ImageError, NonFiniteError) as error:  # of this image alone: the others of the stream go on
            self.answer = error

    def preview(self) -> Prediction:
        """What would be answered if no more views were looked at; in a cascade, by the student alone."""
        if self.seen is None:
            raise UsageError("no view of this image has been looked at yet, so there is nothing to preview.")
        student = ImageTask(self.sample, replace(self.setup, teacher=None, evidence=False), ends=())
        student.features, student.seconds = self.features, dict(self.seconds)
        return student._predict(replace(self.seen, teacher=None), perf_counter())

    def _scored(self, features: Float32) -> ViewLogits:
        """The views seen, those of the last round included.

        Whole blocks of logits from earlier rounds stay as they are. So the first views of a full run have the same
        logits to the last bit as those of an image that stops there, and no product is computed twice.
        """
        known = None if self.seen is None else self.seen.logits
        self.features = features = np.concatenate([self.features, features])
        whole = 0 if known is None else len(known) - len(known) % BLOCK
        model, teacher = self.setup.model, self.setup.teacher
        logits = model.logits(features[whole:])
        return ViewLogits(
            logits if known is None else np.concatenate([known[:whole], logits]),
            logit_scale=model.encoder.logit_scale,
            logit_bias=model.encoder.logit_bias,
            scoring=model.encoder.scoring,
            tie_draw=self.sample.tie_draw,
            features=features,
            text=model.head.features,
            teacher=None if self.teacher is None else self.teacher.logits,
            teacher_scale=1.0 if teacher is None else teacher.encoder.logit_scale,
            teacher_bias=0.0 if teacher is None else teacher.encoder.logit_bias,
            likeness=self.setup.likeness,
            offsets=model.offsets,
        )

    def _reason_to_stop(self, views: ViewLogits) -> str | None:
        """Why this image's rounds end here; None if they go on, or where no rule is at work."""
        rule = self.setup.rule
        if rule is None:
            return None
        if not self._ends:
            return ALL_VIEWS
        labels, method = views.labels, self.setup.method
        if self._say is None and isinstance(method, VotingMethod) and method.has_say:
            self._say = method.say(views)  # the same in every round
        if self.teacher is not None and isinstance(rule, Exact):
            labels = _taught(self.teacher, views, rule.certain(views.order))
        settled = rule.settled(labels, views.order, say=self._say, sure=float(views.top_probability[0]))
        if settled and self.teacher is not None and isinstance(rule, Confident):
            labels = _taught(self.teacher, views, views.most_confident(rule.keep))
            settled = rule.settled(labels, views.order, say=self._say, sure=self.teacher.sure)
        return rule.reason if settled else None

    def _predict(self, views: ViewLogits, start: float) -> Prediction:
        """The prediction for the views seen; the round that ends with it started at `start`."""
        setup, sample = self.setup, self.sample
        decision = self._decide(views)
        asked = None if self.teacher is None else self.teacher.rows
        probability, blend = likelihood_of(decision, decision.seen or views, fit=setup.fit, teacher=asked)
        evidence = None
        if setup.evidence:
            voted = None if asked is None else self._heard(asked, decision)
            evidence = gather_evidence(views, tie_draw=sample.tie_draw, teacher=voted, detail=setup.detail)
        looked = sample.views[: len(views)]
        table = decision.views.located([v.box for v in looked], [v.flip for v in looked], names=setup.labels)
        self.seconds["decide"] += perf_counter() - start
        timings = {**sample.timings, **self.seconds}
        prediction = Prediction(
            labels=setup.labels,
            index=decision.index,
            probability=probability,
            scores=decision.scores,
            votes=decision.votes,
            method=setup.method.name,
            model=setup.model_id,
            tie_break=decision.tie_break,
            abstained=probability < setup.abstain_below,
            path=sample.path,
            timings={**timings, "total": sum(timings.values())},
            trace=Trace(
                table, decision.marginal_before, decision.marginal_after, evidence, decision.anchor, views.logits[0]
            ),
            notes=decision.notes,
            views_used=len(views),
            views_asked=self._most,
            stop=self.stop,
            blend=blend,
            context=setup.context,
        )
        if setup.presence is None:
            return prediction
        return setup.presence.added_to(
            prediction,
            features=self.features,
            logits=views.logits if views.offsets is None else views.logits + views.offsets,  # asked of the photo alone
            encoder=setup.model.encoder,
            abstain_below=setup.abstain_below,
        )

    def _heard(self, asked: dict[int, Float32], decision: Decision) -> dict[int, Float32]:
        """What the teacher said of the views that decided; of others it was asked after earlier rounds."""
        method = self.setup.method
        source = isinstance(method, VotingMethod) and method.has_say
        return {view: row for view, row in asked.items() if decision.views.kept[view] or (source and view == 0)}

    def _decide(self, views: ViewLogits) -> Decision:
        setup, sample = self.setup, self.sample
        if not isinstance(setup.decider, TuningMethod):
            return setup.decider.decide(views)
        model, teacher = setup.model, None
        if setup.teacher is not None:
            spec = setup.teacher.encoder.image_spec
            teacher = Teacher(
                setup.teacher.encoder,
                setup.teacher.head.features,
                lambda chosen: sample.pixels_for(list(chosen), spec),
            )
        text = model.head.features
        episode = Episode(model.encoder, setup.labels, sample.pixels, self.features, views.logits, text, teacher)
        return setup.decider.adapt(episode)


def _taught(teacher: TeacherAnswers, views: ViewLogits, asked: Int64) -> Int64:
    """The labels of the views, the teacher's of those that it is asked about."""
    labels = views.labels.copy()
    labels[asked] = teacher.logits(asked).argmax(axis=-1)
    return labels


def blank_views(count: int, encoder: Encoder) -> UInt8:
    """Views of an image that cannot be drawn, in a batch of others; nobody looks at their features."""
    side = encoder.image_spec.size
    return np.zeros((count, side, side, 3), dtype=np.uint8)


def round_ends(rule: StoppingRule | None, budget: int, encoder: Encoder) -> tuple[int, ...]:
    """How many views have been encoded after each round; rounds end where the encoder's blocks do."""
    return (budget,) if rule is None else aligned_rounds(rule.rounds, encoder.block_views or 1)
