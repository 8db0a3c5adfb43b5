"""A sample on its way to the encoder: read, boxes sampled, decoded, drawn."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from time import perf_counter
from typing import Literal, get_args

import numpy as np
from PIL import Image

from ..arrays import Float32, UInt8
from ..images.failures import image_errors
from ..images.photo import ImageLimits, ImageSource, Photo, open_photo
from ..images.source import name_of
from ..images.spec import ImageSpec
from ..registry import unknown_name
from ..rng import sample_rng
from .augmix import sample_mixes
from .crops import SampledViews, View, source_box
from .draw import Drawing, DrawViews, reductions, render_views

HOLD_PIXELS = 4_000_000
"""Pixels of a photo that are held between two rounds of views, of its coarsest copies: many photos are under way.

A view that needs a finer copy than those held has the photo decoded again. Of 12 megapixels the full size is let go,
and less than one crop in a hundred needs it.
"""

AHEAD = 4
"""How many times as many views as before are drawn when a photo is decoded again, and at least 8 in all.

Decoding 12 megapixels takes as long as drawing twenty views: better a few that nobody looks at than one more decoding.
"""

Augment = Literal["crops", "augmix"]


@dataclass(frozen=True)
class Keyed:
    """An image of a dataset: its views depend on the dataset's name and its key there; without one, on its content."""

    image: ImageSource | Photo
    key: str | None
    dataset: str = ""


class Sample:
    """One image: where its views look, the pixels of those drawn so far, and the seconds spent on them.

    Views are drawn when they are asked for, from a photo that is decoded once, no coarser than the finest view needs:
    the first views have the same pixels however many follow. `draw_ahead` starts on the next ones and returns at once.
    `known` is how many of the first views need not be drawn, because their features are known from another time, and
    `source` the feature (1, dim) of the source view where it is. `key` and `dataset` are what the views follow from.
    With `on_demand` a view is drawn by the thread that asks for it, and threads may ask for different views of those
    started: for a caller that keeps all cores busy by itself.
    """

    def __init__(
        self,
        photo: Photo,
        views: Sequence[View],
        spec: ImageSpec,
        *,
        path: str | None,
        tie_draw: float,
        read: float,
        key: str = "",
        dataset: str = "",
        draw_views: DrawViews | None = None,
    ) -> None:
        self.photo = photo
        self.key = key
        self.dataset = dataset
        self.views = views
        self.path = path
        self.tie_draw = tie_draw
        self.timings = {"read": read, "render": 0.0}
        self._spec = spec
        self._draw_views = draw_views
        self._levels: dict[int, Image.Image] = {}  # those held, by how many times the photo is reduced
        self._drawn: list[UInt8] = []
        self._ahead: Drawing | None = None  # of the views behind those drawn
        self._started = 0  # views drawn or being drawn
        self._lock = Lock()
        self.on_demand = False
        self.known = 0
        self.source: Float32 | None = None

    @property
    def pixels(self) -> UInt8:
        """The views drawn so far (views, size, size, 3)."""
        self._wait()
        if len(self._drawn) > 1:
            self._drawn = [np.concatenate(self._drawn)]
        return self._drawn[0]

    def draw_ahead(self, end: int) -> None:
        """Start to draw the views before `end` that are not drawn yet."""
        self._start(end, on_demand=self.on_demand)

    def draw(self, start: int, end: int) -> UInt8:
        """The views from `start` to before `end`."""
        self._start(end, on_demand=self.on_demand or end - self._started == 1)
        done = sum(map(len, self._drawn))
        if self.on_demand and self._ahead is not None and start >= done:
            return self._drawn_here(self._ahead, start - done, end - done)
        self._wait()
        first = 0
        for part in self._drawn:
            if first <= start and end <= first + len(part):
                return part[start - first : end - first]
            first += len(part)
        return self.pixels[start:end]

    @property
    def held_pixels(self) -> int:
        """The pixels of the decoded photo that it holds."""
        return sum(level.width * level.height for level in self._levels.values())

    def let_go(self) -> None:
        """Hold the decoded photo no longer: it may be long until all images before it are answered."""
        self._levels = {}

    def _start(self, end: int, *, on_demand: bool) -> None:
        """Start to draw the views before `end` that are not drawn yet."""
        if end <= max(self._started, self.known):
            return
        self._wait()
        with image_errors(self.photo.name, doing="draw"):
            if reductions(self.views[self._started : end], self._spec, of=self.photo.size) <= self._levels.keys():
                self._draw(self._levels, end, on_demand=on_demand)
            else:
                self._decode_and_draw(end, on_demand=on_demand)
            if self._started == len(self.views):
                self._levels = {}

    def _drawn_here(self, ahead: Drawing, start: int, end: int) -> UInt8:
        """Some of the views that are being drawn on demand; other threads may ask for others."""
        began = perf_counter()
        with image_errors(self.photo.name, doing="draw"):
            pixels = ahead.some(start, end)
        with self._lock:
            self.timings["render"] += perf_counter() - began
        return pixels

    def pixels_for(self, chosen: list[int], spec: ImageSpec) -> UInt8:
        """The chosen views as another model wants them: crops stay where they are, the source view is framed anew."""
        if _look(spec) == _look(self._spec):
            return self.pixels[chosen]
        with image_errors(self.photo.name, doing="draw"):
            box = source_box(self.photo.size, spec)
            views = [self.views[i] for i in chosen]
            looks = [View(box, flip=False, source=True) if v.source else v for v in views]
            return render_views(self.photo, looks, spec)

    def _decode_and_draw(self, end: int, *, on_demand: bool) -> None:
        start = perf_counter()
        with self.photo.decoded(reductions(self.views, self._spec, of=self.photo.size)) as levels:
            self.timings["read"] += perf_counter() - start
            if self._started:
                end, on_demand = min(len(self.views), max(end, AHEAD * self._started, 8)), self.on_demand
            self._draw(levels, end, on_demand=on_demand)
            self._levels = _held(levels)
            if len(self._levels) < len(levels):  # the others are a part of the decoding memory until these are drawn
                self._wait()

    def _draw(self, levels: dict[int, Image.Image], end: int, *, on_demand: bool) -> None:
        """Draw the views before `end`, or start to."""
        start = perf_counter()
        views = self.views[self._started : end]
        if self._draw_views is None:
            self._ahead = Drawing(levels, views, self._spec, on_demand=on_demand)
        else:
            self._drawn.append(self._draw_views(levels, views))
        self._started = end
        self.timings["render"] += perf_counter() - start

    def _wait(self) -> None:
        if self._ahead is not None:
            start = perf_counter()
            ahead, self._ahead = self._ahead, None
            with image_errors(self.photo.name, doing="draw"):
                self._drawn.append(ahead.result())
            self.timings["render"] += perf_counter() - start


def prepare(
    image: ImageSource | Photo,
    spec: ImageSpec,
    *,
    n_views: int,
    seed: int,
    first: int | None = None,
    dataset: str = "",
    key: str | None = None,
    limits: ImageLimits | None = None,
    augment: Augment = "crops",
    draw_views: DrawViews | None = None,
) -> Sample:
    """A sample of `n_views` views with its `first` ones (None: all, 0: none) drawn.

    A loose image is its own key: a renamed or moved photo keeps its views. augment="augmix" mixes the very crops of
    "crops"; its numbers come from a stream of their own. `draw_views` draws crops elsewhere than on the CPU.
    """
    start = perf_counter()
    augment = checked_augment(augment)
    with image_errors(name_of(image)):
        photo = open_photo(image, limits=limits)
        key = photo.key if key is None else key
        views, tie_draw = views_of(
            photo.size, spec, n_views=n_views, seed=seed, dataset=dataset, key=key, augment=augment
        )
    path = str(image) if isinstance(image, (str, Path)) else None
    drawer = draw_views if augment == "crops" else None
    read = perf_counter() - start
    sample = Sample(
        photo, views, spec, path=path, tie_draw=tie_draw, read=read, key=key, dataset=dataset, draw_views=drawer
    )
    if first != 0:
        sample.draw(0, n_views if first is None else min(first, n_views))
    return sample


def views_of(
    size: tuple[int, int], spec: ImageSpec, *, n_views: int, seed: int, dataset: str, key: str, augment: Augment
) -> tuple[Sequence[View], float]:
    """Where the views of an image of `size` (width, height) look, and the number that breaks its random ties."""
    rng = sample_rng(seed=seed, dataset=dataset, key=key)
    views: Sequence[View] = SampledViews(size, spec, n_views=n_views, rng=rng)
    if augment == "augmix":
        mixes = sample_mixes(n_views - 1, sample_rng(seed=seed, dataset=dataset, key=key, stream="augmix"))
        views = [views[0], *(replace(view, mix=mix) for view, mix in zip(views[1:], mixes, strict=True))]
    return views, float(sample_rng(seed=seed, dataset=dataset, key=key, stream="ties").uniform(1)[0])


def checked_augment(augment: Augment) -> Augment:
    """The kind of views, or an error that names those there are."""
    if augment not in get_args(Augment):
        raise unknown_name("kind of views", augment, get_args(Augment))
    return augment


def _held(levels: dict[int, Image.Image]) -> dict[int, Image.Image]:
    """The coarsest of the levels, as many as there may be pixels."""
    held, pixels = dict[int, Image.Image](), 0
    for factor in sorted(levels, reverse=True):
        pixels += levels[factor].width * levels[factor].height
        if pixels > HOLD_PIXELS:
            break
        held[factor] = levels[factor]
    return held


def _look(spec: ImageSpec) -> tuple[object, ...]:
    """What decides the pixels of a view; mean and std come later."""
    return spec.size, spec.interpolation, spec.resize, spec.short_side
