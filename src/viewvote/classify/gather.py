"""The context of a classifier, gathered from unlabelled photos in one pass over their source views."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..arrays import Float32, UInt8
from ..context.base import Context
from ..context.file import read_context
from ..context.rule import estimate
from ..context.sample import LogitSample
from ..encoders import Encoder
from ..encoders.batch_size import fastest_batch
from ..errors import NonFiniteError, UsageError, ViewvoteError
from ..images.photo import ImageSource
from ..methods import TrainingFreeMethod
from ..views.sample import Keyed, Sample
from ..vote import checked_logits
from .options import checked_images
from .prefetch import PREPARING, prepare_ahead
from .scheduler import Settled, run_tasks
from .setup import LabelledModel

if TYPE_CHECKING:
    from .base import BaseClassifier


MOST_SOURCES = 10_000
"""Photos whose source view need not be encoded again for their vote."""


@dataclass(frozen=True)
class SourceLogits:
    """A photo's logits (labels,) on its source view, in a cascade also the teacher's; its key, and the feature."""

    student: Float32
    teacher: Float32 | None
    key: str
    features: Float32  # (1, dim)


class SourceTask:
    """A sample of which only the source view is encoded (a Task of the scheduler)."""

    def __init__(self, sample: Sample, model: LabelledModel, teacher: LabelledModel | None) -> None:
        self.answer: SourceLogits | ViewvoteError | None = None
        self.wanted = range(1)
        self._sample, self._model, self._teacher = sample, model, teacher

    def views(self, start: int, end: int) -> UInt8:
        """The pixels of the source view."""
        return self._sample.draw(start, end)

    def receive(self, features: Float32, seconds: float) -> None:
        """Answer with the logits."""
        del seconds
        try:
            self.answer = SourceLogits(
                _row(self._model.logits(features)), self._taught(), self._sample.photo.key, features
            )
        except NonFiniteError as error:  # of this photo alone
            self.answer = error

    def _taught(self) -> Float32 | None:
        if self._teacher is None:
            return None
        pixels = self._sample.pixels_for([0], self._teacher.encoder.image_spec)
        return _row(self._teacher.logits(self._teacher.encoder.encode_images(pixels)))


@dataclass(frozen=True)
class Gathered:
    """A context, and the features (1, dim) of the source views that it was made from, by the photos' keys."""

    context: Context
    sources: Mapping[str, Float32]


def gather_context(
    classifier: BaseClassifier, images: Iterable[ImageSource | Keyed], *, mix: Sequence[float] | str | None = None
) -> Gathered:
    """What these photos take off the labels' logits; those that cannot be read are left out."""
    found = (one for one in source_logits(classifier, images) if isinstance(one, SourceLogits))
    return context_from(found, classifier, mix=mix)


def context_from(
    photos: Iterable[SourceLogits], classifier: BaseClassifier, *, mix: Sequence[float] | str | None = None
) -> Gathered:
    """The context in the logits of photos, whatever their order."""
    student, taught, sources = LogitSample(), LogitSample(), dict[str, Float32]()
    for one in photos:
        student.add(one.student)
        if len(sources) < MOST_SOURCES:
            sources[one.key] = one.features
        if one.teacher is not None:
            taught.add(one.teacher)
    teacher = None if classifier.teacher is None else _context_of(taught, classifier, classifier.teacher, mix=mix)
    return Gathered(replace(_context_of(student, classifier, classifier.encoder, mix=mix), teacher=teacher), sources)


def source_logits(
    classifier: BaseClassifier, images: Iterable[ImageSource | Keyed]
) -> Iterator[SourceLogits | ViewvoteError]:
    """The logits of each photo's source view, in order, as they are without any context."""
    check_method(classifier)
    setup = classifier.setup()
    model = replace(setup.model, offsets=None)
    teacher = None if setup.teacher is None else replace(setup.teacher, offsets=None)
    batch = fastest_batch(classifier.encoder, cache_dir=classifier.cache_dir)
    samples = prepare_ahead(
        lambda keyed: classifier.prepare(keyed, first=1),
        checked_images(images),
        ahead=batch + PREPARING,
        limits=classifier.limits,
    )
    tasks: Iterator[SourceTask | Settled[SourceLogits | ViewvoteError]] = (
        SourceTask(one, model, teacher) if isinstance(one, Sample) else Settled(one) for one in samples
    )
    return run_tasks(tasks, classifier.encoder, ends=[1], batch_views=batch)


def checked_context(given: Context | str | Path | None, classifier: BaseClassifier) -> Context | None:
    """The context to use, read where a file is given; UsageError unless it is of these labels, models and method."""
    if given is None:
        return None
    check_method(classifier)
    context = given if isinstance(given, Context) else read_context(Path(given))
    parts: list[tuple[Context | None, Encoder | None]] = [(context, classifier.encoder)]
    parts.append((context.teacher, classifier.teacher))
    for part, encoder in parts:
        if (part is None) is not (encoder is None):
            raise UsageError(
                "a cascade needs a context of both its models, and one model a context of one; make it again with "
                "`viewvote context` and the same --model and --teacher."
            )
        if part is not None and encoder is not None:
            part.check(
                labels=classifier.labels_digest,
                n_labels=len(classifier.labels),
                model=encoder.model_id,
                fingerprint=encoder.fingerprint,
            )
    return context


def check_method(classifier: BaseClassifier) -> None:
    """Raise UsageError unless the method decides on logits alone."""
    if not isinstance(classifier.method, TrainingFreeMethod):
        raise UsageError(
            f"method {classifier.method.name!r} takes no context: it tunes, or learns from image to image by itself. "
            "Use zero, anchored, zero-shot or another that needs no training."
        )


def teacher_offsets(context: Context | None) -> Float32 | None:
    """What is taken off the teacher's logits."""
    return None if context is None or context.teacher is None else context.teacher.offsets


def _context_of(
    sample: LogitSample, classifier: BaseClassifier, encoder: Encoder, *, mix: Sequence[float] | str | None
) -> Context:
    rows = sample.rows().reshape(-1, len(classifier.labels))
    return Context(
        **vars(estimate(rows, mix=mix)),
        labels=classifier.labels_digest,
        model=encoder.model_id,
        fingerprint=encoder.fingerprint,
    )


def _row(logits: Float32) -> Float32:
    """The only row of logits (1, labels); NaN or infinity raises NonFiniteError."""
    row: Float32 = checked_logits(logits)[0]
    return row
