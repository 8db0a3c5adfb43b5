"""The next images, decoded and drawn while the encoder works."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from dataclasses import replace

from ..errors import UnreadableImageError, ViewvoteError
from ..images.photo import ImageLimits, ImageSource, pinned
from ..sources.item import SourceItem
from ..views.sample import HOLD_PIXELS, Keyed, Sample
from ..views.threads import Pool

GivenImage = ImageSource | Keyed | SourceItem
"""What a classifier takes for one of many images."""

PREPARING = 2
"""Images decoded and drawn at the same time while the encoder works."""

MOST_HELD = HOLD_PIXELS * max(4, 2 * (os.cpu_count() or 1))
"""About how many decoded pixels wait for the encoder, and how many go to it at a time: small photos never fill them.

Large ones would take a gigabyte, and new memory costs more than encoding them in larger batches saves.
"""

_Started = Future[Sample] | ViewvoteError


def prepare_ahead(
    prepare_one: Callable[[Keyed], Sample],
    images: Iterable[GivenImage],
    *,
    ahead: int,
    limits: ImageLimits | None = None,
) -> Iterator[Sample | ViewvoteError]:
    """The samples of `images` in order, an unusable one as its error; at most `ahead` are held, of large photos fewer.

    An image is pinned before the next is asked for: a generator may refill one buffer, or close each file after it.
    What `images` itself raises is raised after the samples of the images before.
    """
    source = iter(images)
    pool = Pool(PREPARING, "viewvote-prepare")
    pending: deque[_Started] = deque()
    failure: list[Exception] = []

    def fill(most: int) -> None:
        while not failure and len(pending) < most:
            try:
                image = next(source)
            except StopIteration:
                return
            except Exception as error:  # noqa: BLE001 - raised below, when it is its turn
                failure.append(error)
                return
            try:
                keyed = as_keyed(image)
                pending.append(pool.submit(prepare_one, replace(keyed, image=pinned(keyed.image, limits=limits))))
            except ViewvoteError as error:
                pending.append(error)

    try:
        fill(min(ahead, PREPARING))
        while pending:
            outcome = _outcome(pending.popleft())
            room = min(ahead, max(PREPARING, MOST_HELD // max(1, _held_by(outcome))))  # for as many as large as this
            fill(room - 1)
            yield outcome
            fill(room)
        if failure:
            raise failure[0]
    finally:
        for one in pending:
            if isinstance(one, Future):
                one.cancel()
        pool.close()


def in_portions(samples: Iterable[Sample | ViewvoteError]) -> Iterator[Sample | ViewvoteError | None]:
    """The samples, and None, for the scheduler to encode what there is, whenever they hold as much as should wait."""
    held = 0
    for one in samples:
        yield one
        held += _held_by(one)
        if held >= MOST_HELD:
            held = 0
            yield None


def _held_by(outcome: Sample | ViewvoteError) -> int:
    return outcome.held_pixels if isinstance(outcome, Sample) else 0


def as_keyed(image: GivenImage) -> Keyed:
    """The image with what its views depend on; raises the error of an item that has none."""
    if isinstance(image, SourceItem):
        if image.image is None:
            raise image.error or UnreadableImageError(f"{image.key} holds no image.")
        return Keyed(image.image, key=None)
    return image if isinstance(image, Keyed) else Keyed(image, key=None)


def _outcome(started: _Started) -> Sample | ViewvoteError:
    if isinstance(started, ViewvoteError):
        return started
    try:
        return started.result()
    except ViewvoteError as error:
        return error
