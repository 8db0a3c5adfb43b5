"""Answers from features that are known already: no image is read and no view is encoded."""

from collections.abc import Iterable, Iterator
from typing import NoReturn

from ..errors import UsageError, ViewvoteError
from ..images.photo import Photo
from ..methods import TuningMethod
from ..prediction import Prediction
from ..views.sample import Sample, views_of
from .base import BaseClassifier
from .features import EncodedImage, Encoding, ImageFacts
from .image_task import ImageTask
from .scheduler import receive_known


def check_recall(classifier: BaseClassifier, encoding: Encoding) -> None:
    """Raise UsageError unless the classifier's answers follow from such features, to the last bit."""
    if classifier.teacher is not None:
        raise UsageError("a teacher looks at pixels, which features do not have; classify the images themselves.")
    if isinstance(classifier.method, TuningMethod):
        raise UsageError(
            f"method {classifier.method.name!r} tunes the model on pixels, which features do not have; "
            "use a training-free method, or classify the images themselves."
        )
    different = encoding.difference(Encoding.of(classifier.plan))
    if different is not None:
        raise UsageError(
            f"the features were made with {different}. Ask with the same model, --precision, seed and augmentation, "
            "or encode the images again."
        )
    encoding.check_views(classifier.round_ends)


def recall_each(classifier: BaseClassifier, encoding: Encoding, images: Iterable[EncodedImage]) -> Iterator[Prediction]:
    """The answers for encoded images, in their order, the same as for the images themselves; checked at once."""
    check_recall(classifier, encoding)
    return _answers(classifier, images)


def _answers(classifier: BaseClassifier, images: Iterable[EncodedImage]) -> Iterator[Prediction]:
    ends, setup = classifier.round_ends, classifier.setup()
    for image in images:
        task = ImageTask(_sample(classifier, image.facts), setup, ends=ends)
        task.sample.known = len(image.features)
        receive_known(task, image.features)
        if task.answer is None:
            raise AssertionError("the features of all views were checked to be there")
        if isinstance(task.answer, ViewvoteError):
            raise task.answer
        yield task.answer


def _sample(classifier: BaseClassifier, facts: ImageFacts) -> Sample:
    """The sample that the image would be, without its pixels."""
    photo = Photo(_no_pixels, size=facts.size, name=facts.path or "features", content=_no_pixels)
    views, tie_draw = views_of(
        facts.size,
        classifier.encoder.image_spec,
        n_views=classifier.method.views_used(classifier.n_views),
        seed=classifier.seed,
        dataset=facts.dataset,
        key=facts.key,
        augment=classifier.augment,
    )
    return Sample(
        photo,
        views,
        classifier.encoder.image_spec,
        path=facts.path,
        tie_draw=tie_draw,
        read=0.0,
        key=facts.key,
        dataset=facts.dataset,
    )


def _no_pixels(*_: object) -> NoReturn:
    raise UsageError("features have no pixels; classify the images themselves.")
