"""Images through one classifier: their views in full batches, their answers in order."""

from collections.abc import Iterable, Iterator
from typing import Literal

from ..encoders.batch_size import fastest_batch
from ..errors import ViewvoteError
from ..prediction import Prediction
from ..views.sample import Sample
from .base import BaseClassifier
from .image_task import ImageTask
from .prefetch import PREPARING, GivenImage, in_portions, prepare_ahead
from .scheduler import Encode, Settled, encode_units, run_tasks

Outcome = Prediction | ViewvoteError


def answers_to(
    classifier: BaseClassifier,
    images: Iterable[GivenImage],
    *,
    batch_views: int | None,
    on_error: Literal["raise", "return"],
) -> Iterator[Outcome]:
    """What `Classifier.predict_many` yields; the first image is read when the first answer is asked for."""
    encoder = classifier.encoder
    if batch_views is None:
        batch_views = fastest_batch(encoder, cache_dir=classifier.cache_dir)
    ahead = max(1, batch_views // classifier.round_ends[0]) + PREPARING
    for result in answers_of(  # no local name: an error's traceback would keep the preparing threads alive
        classifier,
        prepare_ahead(classifier.prepare, images, ahead=ahead, limits=classifier.limits),
        batch_views=batch_views,
        encode=encode_units(encoder),
    ):
        if isinstance(result, ViewvoteError) and on_error == "raise":
            raise result
        yield result


def answers_of(
    classifier: BaseClassifier, samples: Iterable[Sample | ViewvoteError], *, batch_views: int, encode: Encode
) -> Iterator[Outcome]:
    """The predictions of prepared samples, in order; the error of one does not stop the others."""
    ends, setup = classifier.round_ends, classifier.setup()

    def task_of(sample: Sample | ViewvoteError) -> ImageTask | Settled[Outcome]:
        if isinstance(sample, ViewvoteError):
            return Settled(sample)
        task = ImageTask(sample, setup, ends=ends)
        if sample.source is not None and ends[0] == 1:
            task.receive(sample.source, 0.0)
        return task

    tasks = (one if one is None else task_of(one) for one in in_portions(samples))
    return run_tasks(tasks, classifier.encoder, ends=ends, batch_views=batch_views, encode=encode)
