"""Several training-free methods on the same views: each view is drawn and encoded once for all of them."""

from collections.abc import Iterable, Iterator, Sequence

from ..arrays import Float32, UInt8
from ..encoders.batch_size import fastest_batch
from ..errors import ImageError, UsageError, ViewvoteError
from ..images.photo import ImageSource
from ..methods import TrainingFreeMethod
from ..prediction import Prediction
from ..views.sample import Keyed, Sample
from .classifier import Classifier
from .image_task import ImageTask, blank_views
from .prefetch import PREPARING, prepare_ahead
from .scheduler import Settled, cut_inside_block, run_tasks

Answers = list[Prediction | ViewvoteError]


class SharedTask:
    """An image whose features go to the tasks of several classifiers (a Task of the scheduler).

    A method that looks at fewer views gets the first ones. Where the encoder's block does not end there, the last bits
    of their features depend on the views behind them; they are then encoded again by themselves.
    """

    def __init__(self, sample: Sample, classifiers: Sequence[Classifier]) -> None:
        self.answer: Answers | None = None
        self.sample = sample
        self._classifiers = classifiers
        self._wanted = range(max(one.method.views_used(one.n_views) for one in classifiers))

    @property
    def wanted(self) -> range:
        """The views that any of the methods looks at."""
        return self._wanted

    def views(self, start: int, end: int) -> UInt8:
        """The pixels of the views from `start` to before `end`; blank ones where the image then fails."""
        try:
            return self.sample.draw(start, end)
        except ImageError as error:
            self.answer = [error] * len(self._classifiers)
            return blank_views(end - start, self._classifiers[0].encoder)

    def receive(self, features: Float32, seconds: float) -> None:
        """Let every classifier answer; each is charged for all views it looks at."""
        if self.answer is not None:
            return
        self.answer = [self._answer_of(one, features, seconds) for one in self._classifiers]

    def _answer_of(self, classifier: Classifier, features: Float32, seconds: float) -> Prediction | ViewvoteError:
        count = classifier.method.views_used(classifier.n_views)
        task = ImageTask(self.sample, classifier.setup(), ends=[count])
        task.receive(self._first(classifier, features, count), seconds * count / len(features))
        if task.answer is None:
            raise AssertionError("a task without a stopping rule answers after one round")
        return task.answer

    def _first(self, classifier: Classifier, features: Float32, count: int) -> Float32:
        if cut_inside_block([count], len(features), classifier.encoder.block_views) is None:
            return features[:count]
        return classifier.encoder.encode_images(self.sample.pixels[:count])


def check_together(classifiers: Sequence[Classifier]) -> None:
    """Raise UsageError unless the classifiers look at the same views of the same model and only decide differently."""
    first = classifiers[0]
    for one in classifiers:
        if one.encoder is not first.encoder or one.teacher is not None or one.rule is not None:
            raise UsageError("methods share views of one model only, without a teacher or a rule that stops early.")
        if not isinstance(one.method, TrainingFreeMethod):
            raise UsageError(
                f"method {one.method.name!r} cannot share a pass: it tunes, or learns from image to image."
            )
        if (one.seed, one.augment, one.n_views) != (first.seed, first.augment, first.n_views):
            raise UsageError("methods share a pass where seed, augmentation and number of views are the same.")


def predict_together(
    classifiers: Sequence[Classifier], images: Iterable[ImageSource | Keyed], *, batch_views: int | None = None
) -> Iterator[Answers]:
    """For each image the answers of all classifiers, the same as each gives alone; an error stands in its place."""
    check_together(classifiers)
    widest = max(classifiers, key=lambda one: one.method.views_used(one.n_views))
    views = widest.method.views_used(widest.n_views)
    batch = batch_views or fastest_batch(widest.encoder, cache_dir=widest.cache_dir)
    samples = prepare_ahead(widest.prepare, images, ahead=max(1, batch // views) + PREPARING, limits=widest.limits)
    tasks: Iterator[SharedTask | Settled[Answers]] = (
        SharedTask(one, classifiers) if isinstance(one, Sample) else Settled([one] * len(classifiers))
        for one in samples
    )
    return run_tasks(tasks, widest.encoder, ends=[views], batch_views=batch)
