"""The next images, decoded and drawn while the encoder works."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from itertools import islice

from ..errors import UnreadableImageError, ViewvoteError
from ..images.photo import ImageLimits, ImageSource, pinned
from ..sources.item import SourceItem
from ..views.sample import Keyed, Sample

GivenImage = ImageSource | Keyed | SourceItem
"""What a classifier takes for one of many images."""

PREPARING = 2
"""Images decoded and drawn at the same time while the encoder works."""


def prepare_ahead(
    prepare_one: Callable[[Keyed], Sample],
    images: Iterable[GivenImage],
    *,
    ahead: int,
    limits: ImageLimits | None = None,
) -> Iterator[Sample | ViewvoteError]:
    """The samples of `images` in order, an unusable one as its error; at most `ahead` are held at a time.

    An image is pinned before the next is asked for: a generator may refill one buffer, or close each file after it.
    """
    source = iter(images)
    with ThreadPoolExecutor(PREPARING, thread_name_prefix="viewvote-prepare") as pool:

        def start(image: GivenImage) -> Future[Sample] | ViewvoteError:
            try:
                keyed = as_keyed(image)
                return pool.submit(prepare_one, replace(keyed, image=pinned(keyed.image, limits=limits)))
            except ViewvoteError as error:
                return error

        pending = deque(map(start, islice(source, ahead)))
        try:
            while pending:
                yield _outcome(pending.popleft())
                pending.extend(map(start, islice(source, 1)))
        finally:
            for one in pending:
                if isinstance(one, Future):
                    one.cancel()


def as_keyed(image: GivenImage) -> Keyed:
    """The image with what its views depend on; raises the error of an item that has none."""
    if isinstance(image, SourceItem):
        if image.image is None:
            raise image.error or UnreadableImageError(f"{image.key} holds no image.")
        return Keyed(image.image, key=None)
    return image if isinstance(image, Keyed) else Keyed(image, key=None)


def _outcome(started: Future[Sample] | ViewvoteError) -> Sample | ViewvoteError:
    if isinstance(started, ViewvoteError):
        return started
    try:
        return started.result()
    except ViewvoteError as error:
        return error
