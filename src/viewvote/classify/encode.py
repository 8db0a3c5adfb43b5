"""Encoding without labels: every view of each image through the image tower, in full batches."""

import os
from collections.abc import Collection, Generator, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Literal

from ..arrays import Float32, UInt8
from ..checks import checked_whole
from ..encoders.batch_size import fastest_batch
from ..errors import UsageError, ViewvoteError
from ..images.photo import ImageSource
from ..registry import unknown_name
from ..views.sample import Keyed, Sample
from .feature_files import FeatureWriter, open_features
from .features import EncodedImage, Encoding, Features, ImageFacts
from .options import checked_images
from .prefetch import PREPARING, prepare_ahead
from .progress import Progress, counted
from .scheduler import Settled, run_tasks
from .view_plan import ViewPlan

Outcome = EncodedImage | ViewvoteError


class EncodeTask:
    """An image whose answer is the features of all its views (a Task of the scheduler)."""

    def __init__(self, sample: Sample) -> None:
        self.answer: Outcome | None = None
        self.sample = sample

    @property
    def wanted(self) -> range:
        """All views."""
        return range(len(self.sample.views))

    def views(self, start: int, end: int) -> UInt8:
        """The pixels of the views from `start` to before `end`."""
        return self.sample.draw(start, end)

    def receive(self, features: Float32, seconds: float) -> None:
        """Answer with the features."""
        del seconds
        sample = self.sample
        facts = ImageFacts(sample.key, sample.photo.size, sample.dataset, sample.path)
        self.answer = EncodedImage(facts, features)


def encode_each(
    plan: ViewPlan, images: Iterable[ImageSource | Keyed], *, batch_views: int | None = None
) -> Generator[Outcome, None, None]:
    """The images encoded, in their order; one that cannot be read is its error. No more are held than two batches need.

    Views are computed together as `predict_many` computes them, so that answers from features are the same bits.
    """
    batch = batch_views or fastest_batch(plan.encoder, cache_dir=plan.cache_dir)
    ahead = max(1, batch // plan.n_views) + PREPARING
    samples = prepare_ahead(plan.prepare, images, ahead=ahead, limits=plan.limits)
    tasks: Iterator[EncodeTask | Settled[Outcome]] = (
        EncodeTask(one) if isinstance(one, Sample) else Settled(one) for one in samples
    )
    yield from run_tasks(tasks, plan.encoder, ends=[plan.n_views], batch_views=batch)


def encode(
    plan: ViewPlan,
    images: Iterable[ImageSource | Keyed],
    *,
    out: Path | None,
    resume: bool,
    overwrite: bool,
    batch_views: int | None,
    on_error: Literal["raise", "skip"],
    progress: Progress | None,
) -> Features:
    """What `Classifier.encode` returns."""
    if on_error not in ("raise", "skip"):
        raise unknown_name("on_error", on_error, ["raise", "skip"])
    if batch_views is not None:
        batch_views = checked_whole(batch_views, name="batch_views", least=1)
    if out is None and (resume or overwrite):
        raise UsageError("resume and overwrite are of a folder: name it with out=.")
    images, encoding, skipped = checked_images(images), Encoding.of(plan), list[ViewvoteError]()

    def encoded(images: Iterable[ImageSource | Keyed]) -> Iterator[EncodedImage]:
        with closing(encode_each(plan, images, batch_views=batch_views)) as outcomes:  # ends its threads on an error
            for outcome in counted(outcomes, progress, images=images):
                if isinstance(outcome, EncodedImage):
                    yield outcome
                elif on_error == "raise":
                    raise outcome
                else:
                    skipped.append(outcome)

    if out is None:
        found = list(encoded(images))
        return Features(encoding, [one.facts for one in found], [one.features for one in found], skipped=skipped)
    with FeatureWriter(out, encoding, resume=resume, overwrite=overwrite) as writer:
        for one in encoded(_missing(images, writer.paths) if resume else images):
            writer.add(one)
    return open_features(out, skipped=skipped)


def _missing(images: Iterable[ImageSource | Keyed], done: Collection[str]) -> list[ImageSource | Keyed]:
    """The images that are not done yet, which are known by their paths."""
    found = []
    for image in images:
        source = image.image if isinstance(image, Keyed) else image
        if not isinstance(source, (str, os.PathLike)):
            raise UsageError(f"resume knows images by their paths; got an image of type {type(source).__name__}.")
        if os.fspath(source) not in done:
            found.append(image)
    return found
