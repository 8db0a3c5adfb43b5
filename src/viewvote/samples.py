"""A sample on its way to the encoder: read, boxes sampled, decoded, drawn; the next ones prepared meanwhile."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import Literal, TypeVar, get_args

from .augmix import sample_mixes
from .errors import ViewvoteError
from .images import ImageLimits, ImageSource, Photo, open_photo
from .registry import unknown_name
from .rng import sample_rng
from .types import ImageSpec, UInt8
from .views import View, render_views, sample_views, source_box

PREPARING = 2
"""Images decoded and drawn at the same time while the encoder works."""

Augment = Literal["crops", "augmix"]

T = TypeVar("T")


@dataclass(frozen=True)
class Sample:
    """One image, where its views look, their pixels, and the seconds spent so far."""

    photo: Photo
    views: list[View]
    pixels: UInt8  # (views, size, size, 3)
    path: str | None
    tie_draw: float
    timings: dict[str, float]

    def pixels_for(self, chosen: list[int], spec: ImageSpec, *, drawn_for: ImageSpec) -> UInt8:
        """The chosen views as another model wants them: crops stay where they are, the source view is framed anew."""
        if _look(spec) == _look(drawn_for):
            return self.pixels[chosen]
        box = source_box(self.photo.size, spec)
        views = [self.views[i] for i in chosen]
        return render_views(self.photo, [View(box, flip=False, source=True) if v.source else v for v in views], spec)


def prepare(
    image: ImageSource,
    spec: ImageSpec,
    *,
    n_views: int,
    seed: int,
    dataset: str = "",
    key: str | None = None,
    limits: ImageLimits | None = None,
    augment: Augment = "crops",
) -> Sample:
    """Everything up to the encoder. A loose image is its own key: a renamed or moved photo keeps its views.

    augment="augmix" mixes the very crops of "crops"; its numbers come from a stream of their own.
    """
    start = perf_counter()
    photo = open_photo(image, limits=limits)
    key = photo.key if key is None else key
    views = sample_views(photo.size, spec, n_views=n_views, rng=sample_rng(seed=seed, dataset=dataset, key=key))
    if checked_augment(augment) == "augmix":
        mixes = sample_mixes(n_views - 1, sample_rng(seed=seed, dataset=dataset, key=key, stream="augmix"))
        views[1:] = [replace(view, mix=mix) for view, mix in zip(views[1:], mixes, strict=True)]
    tie_draw = float(sample_rng(seed=seed, dataset=dataset, key=key, stream="ties").uniform(1)[0])
    opened = perf_counter()
    pixels = render_views(photo, views, spec)
    timings = {"read": opened - start, "render": perf_counter() - opened}
    path = str(image) if isinstance(image, (str, Path)) else None
    return Sample(photo, views, pixels, path, tie_draw, timings)


def checked_augment(augment: Augment) -> Augment:
    """The kind of views, or an error that names those there are."""
    if augment not in get_args(Augment):
        raise unknown_name("kind of views", augment, get_args(Augment))
    return augment


def prepare_ahead(
    prepare_one: Callable[[T], Sample], items: Iterable[T], *, ahead: int
) -> Iterator[Sample | ViewvoteError]:
    """The samples of `items` in order, an unusable one as its error; at most `ahead` are held at a time."""
    source = iter(items)
    with ThreadPoolExecutor(PREPARING, thread_name_prefix="viewvote-prepare") as pool:
        pending: deque[Future[Sample]] = deque(pool.submit(prepare_one, item) for item in islice(source, ahead))
        try:
            while pending:
                future = pending.popleft()
                try:
                    result: Sample | ViewvoteError = future.result()
                except ViewvoteError as error:
                    result = error
                yield result
                pending.extend(pool.submit(prepare_one, item) for item in islice(source, 1))
        finally:
            for future in pending:
                future.cancel()


def _look(spec: ImageSpec) -> tuple[object, ...]:
    """What decides the pixels of a view; mean and std come later."""
    return spec.size, spec.interpolation, spec.resize, spec.short_side
