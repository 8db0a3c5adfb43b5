"""Images that are asked different questions, in one stream."""

from collections.abc import Iterable, Iterator, Sequence

from ..encoders.batch_size import fastest_batch
from ..images.photo import ImageSource
from ..views.sample import Keyed, Sample
from .classifier import Classifier
from .image_task import ImageTask
from .prefetch import PREPARING, prepare_ahead
from .scheduler import Settled, run_tasks
from .stream import Outcome


def predict_each(
    classifiers: Iterable[Classifier],
    images: Sequence[ImageSource | Keyed],
    *,
    like: Classifier,
    batch_views: int | None = None,
) -> Iterator[Outcome]:
    """The answer of its own classifier for each image; their views share batches, as they share their model.

    Args:
        classifiers: One for each image, asked for when its turn comes; they differ from `like` in their labels only.
        images: The images.
        like: Any of the classifiers.
        batch_views: As in `Classifier.predict_many`.
    """
    ends = like.round_ends
    batch = batch_views or fastest_batch(like.encoder, cache_dir=like.cache_dir)
    ahead = max(1, batch // ends[0]) + PREPARING
    samples = prepare_ahead(like.prepare, images, ahead=ahead, limits=like.limits)
    tasks: Iterator[ImageTask | Settled[Outcome]] = (
        classifier.task(one) if isinstance(one, Sample) else Settled(one)
        for one, classifier in zip(samples, classifiers, strict=True)
    )
    return run_tasks(tasks, like.encoder, ends=ends, batch_views=batch)
