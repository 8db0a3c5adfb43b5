"""The pixels of views: each drawn to uint8 from the decoded level of the photo that suits it, on all cores."""

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future

import numpy as np
from PIL import Image

from ..arrays import UInt8
from ..images.photo import Photo
from ..images.resize import resize
from ..images.spec import ImageSpec
from ..prediction import Box
from .augmix import mix_view
from .crops import View
from .threads import Threads

OVERSAMPLING = 2
"""A box is drawn from a copy of the image reduced 2, 4 or 8 times only where it still spans this many times the view.

So pixels are those of a crop and an antialiased resize until the shorter side of a box reaches 4 views (896 pixels at
224); beyond, they differ by less than one grey level on average, and large photos render many times faster.
"""

_DRAWING = Threads(os.cpu_count() or 1, "viewvote-draw")  # resizing releases the GIL
_RESAMPLING = {
    "nearest": Image.Resampling.NEAREST,
    "bilinear": Image.Resampling.BILINEAR,
    "bicubic": Image.Resampling.BICUBIC,
    "lanczos": Image.Resampling.LANCZOS,
}


def reduction(box: Box, size: int) -> int:
    """How many times (1, 2, 4, 8) the image may be reduced and still span OVERSAMPLING views across `box`."""
    spare = min(box.width, box.height) / (OVERSAMPLING * size)
    return max((factor for factor in (2, 4, 8) if factor <= spare), default=1)


def render_views(photo: Photo, views: Sequence[View], spec: ImageSpec, *, exact: bool = False) -> UInt8:
    """The views as uint8 (views, size, size, 3), drawn on all cores; `exact` is Pillow on the full image."""
    factors = {1} if exact else reductions(views, spec, of=photo.size)
    return Drawing(photo.levels(factors), views, spec, exact=exact).result()


def reductions(views: Sequence[View], spec: ImageSpec, *, of: tuple[int, int]) -> set[int]:
    """How many times the image `of` this size (width, height) is reduced for any of the views."""
    if min(of) < 2 * OVERSAMPLING * spec.size:  # no box is larger, so none needs to be found
        return {1}
    return {reduction(view.box, spec.size) for view in views}


DrawViews = Callable[[Mapping[int, Image.Image], Sequence[View]], UInt8]
"""What draws views from decoded levels in place of `Drawing`: an encoder on its own device."""


class Drawing:
    """Views being drawn on all cores from decoded levels; `result` waits for them.

    A view is drawn from the level that suits it, or the finest there is. So the first of many views, drawn from the
    levels of all, have the very pixels they have when all are drawn at once. With `on_demand` nothing is drawn before
    somebody asks for it, whose thread then draws it.
    """

    def __init__(
        self,
        levels: Mapping[int, Image.Image],
        views: Sequence[View],
        spec: ImageSpec,
        *,
        exact: bool = False,
        on_demand: bool = False,
    ) -> None:
        self._levels = levels
        self._views = views
        self._spec = spec
        self._exact = exact
        self._out = np.empty((len(views), spec.size, spec.size, 3), dtype=np.uint8)
        self._missing = set(range(len(views)))
        self._pending = [] if on_demand else self._start()

    def some(self, start: int, end: int) -> UInt8:
        """The views from `start` to before `end`, drawn here; threads may ask for different ones at the same time."""
        for i in range(start, end):
            if i in self._missing:
                self._draw(i)
        return self._out[start:end]

    def result(self) -> UInt8:
        """The views (views, size, size, 3)."""
        if not self._pending and len(self._missing) == 1:  # who waits for one view may as well draw it
            return self.some(0, len(self._views))
        for future in self._pending or self._start():
            future.result()
        return self._out

    def _start(self) -> list[Future[None]]:
        return [_DRAWING.pool.submit(self._draw, i) for i in sorted(self._missing)]

    def _draw(self, i: int) -> None:
        view = self._views[i]
        factor = max(f for f in self._levels if f <= reduction(view.box, self._spec.size))
        level = self._levels[factor]
        if view.source:
            drawn = _render_source(level, view, self._spec, factor)
        else:
            drawn = _render_crop(level, view, self._spec, factor, exact=self._exact)
        self._out[i] = np.asarray(drawn) if view.mix is None else mix_view(drawn, view.mix)
        self._missing.discard(i)


def _render_crop(level: Image.Image, view: View, spec: ImageSpec, factor: int, *, exact: bool) -> Image.Image:
    """A crop, resized with antialiased bilinear filtering, perhaps mirrored."""
    box = view.box
    bounds = (box.left, box.top, box.right, box.bottom)
    size = (spec.size, spec.size)
    if factor == 1:
        # Cropped first, as torchvision does: resizing with box= would let the filter see pixels outside the crop.
        drawn = resize(level.crop(bounds), size, exact=exact)
    else:
        drawn = resize(level, size, box=_scaled(bounds, level, factor))
    return drawn.transpose(Image.Transpose.FLIP_LEFT_RIGHT) if view.flip else drawn


def _render_source(level: Image.Image, view: View, spec: ImageSpec, factor: int) -> Image.Image:
    """The model's own resize and centre crop, in one step: only the pixels inside the crop are computed."""
    box = view.box
    bounds = _scaled((box.left, box.top, box.right, box.bottom), level, factor)
    return level.resize((spec.size, spec.size), _RESAMPLING[spec.interpolation], box=bounds)


def _scaled(bounds: tuple[float, ...], level: Image.Image, factor: int) -> tuple[float, float, float, float]:
    """A box of the original image in the pixels of a reduced one."""
    left, top, right, bottom = (v / factor for v in bounds)
    return left, top, min(right, level.width), min(bottom, level.height)
