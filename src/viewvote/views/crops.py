"""Views of a photo: sample crop boxes and flips from an rng, then render them to uint8 (Sec. 4.1).

View 0 is the source view: the model's own resize and centre crop. Views 1..N-1 are random resized crops of the full
image with torchvision's default distribution, flipped with probability one half; AugMix may mix them further.
"""

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image

from ..errors import UsageError
from ..images.photo import Photo
from ..images.resize import resize
from ..prediction import Box, ImageSpec, UInt8
from ..rng import SampleRng
from .augmix import Mix, mix_view
from .threads import Threads

AREA = (0.08, 1.0)
RATIO = (3 / 4, 4 / 3)
TRIES = 10
FLIP_PROBABILITY = 0.5
OVERSAMPLING = 2
"""A box is drawn from a copy of the image reduced 2, 4 or 8 times only where it still spans this many times the view.

So pixels are those of a crop and an antialiased resize until the shorter side of a box reaches 4 views (896 pixels at
224); beyond, they differ by less than one grey level on average, and large photos render many times faster.
"""

_DRAWING = Threads(os.cpu_count() or 1, "viewvote-draw")  # resizing releases the GIL
_DRAWS = (
    4 * TRIES + 1
)  # area, ratio, left, top for each try, then the flip: a fixed number, so views do not depend on N
_RESAMPLING = {
    "nearest": Image.Resampling.NEAREST,
    "bilinear": Image.Resampling.BILINEAR,
    "bicubic": Image.Resampling.BICUBIC,
    "lanczos": Image.Resampling.LANCZOS,
}


@dataclass(frozen=True)
class View:
    """Where a view looks; `source` marks the one that is resized as the model wants it, `mix` is what AugMix does."""

    box: Box
    flip: bool
    source: bool = False
    mix: Mix | None = None


def sample_views(size: tuple[int, int], spec: ImageSpec, *, n_views: int, rng: SampleRng) -> list[View]:
    """The source view and n_views - 1 random crops of an image of `size` (width, height).

    View i is the same whatever n_views is, so a longer list extends a shorter one.
    """
    if n_views < 1:
        raise UsageError(f"n_views must be at least 1 (the source view); got {n_views}.")
    draws = rng.uniform(n_views - 1, _DRAWS)
    return [View(source_box(size, spec), flip=False, source=True)] + [_random_view(size, row) for row in draws.tolist()]


def source_box(size: tuple[int, int], spec: ImageSpec) -> Box:
    """The part of the image that the source view shows, in original pixels."""
    width, height = size
    if spec.resize == "squash":
        return Box(0, 0, width, height)
    resized_width, resized_height = _resized(size, spec)
    left, top = _centre(resized_width, spec.size), _centre(resized_height, spec.size)
    x, y = width / resized_width, height / resized_height
    return Box(left * x, top * y, (left + spec.size) * x, (top + spec.size) * y)


def _random_view(size: tuple[int, int], draws: Sequence[float]) -> View:
    """One random resized crop: up to ten tries at an area and a ratio, then the largest centred box allowed."""
    width, height = size
    log_ratio = math.log(RATIO[0]), math.log(RATIO[1])
    flip = draws[-1] < FLIP_PROBABILITY
    for t in range(0, 4 * TRIES, 4):
        area = width * height * (AREA[0] + (AREA[1] - AREA[0]) * draws[t])
        ratio = math.exp(log_ratio[0] + (log_ratio[1] - log_ratio[0]) * draws[t + 1])
        w, h = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
        if 0 < w <= width and 0 < h <= height:
            left, top = int(draws[t + 2] * (width - w + 1)), int(draws[t + 3] * (height - h + 1))
            return View(Box(left, top, left + w, top + h), flip)
    w, h = width, height
    if width / height < RATIO[0]:
        h = min(height, max(1, round(width / RATIO[0])))
    elif width / height > RATIO[1]:
        w = min(width, max(1, round(height * RATIO[1])))
    left, top = (width - w) // 2, (height - h) // 2
    return View(Box(left, top, left + w, top + h), flip)


def reduction(box: Box, size: int) -> int:
    """How many times (1, 2, 4, 8) the image may be reduced and still span OVERSAMPLING views across `box`."""
    spare = min(box.width, box.height) / (OVERSAMPLING * size)
    return max((factor for factor in (2, 4, 8) if factor <= spare), default=1)


def render_views(photo: Photo, views: Sequence[View], spec: ImageSpec, *, exact: bool = False) -> UInt8:
    """The views as uint8 (views, size, size, 3), drawn on all cores; `exact` is Pillow on the full image."""
    factors = {1} if exact else reductions(views, spec)
    return Drawing(photo.levels(factors), views, spec, exact=exact).result()


def reductions(views: Sequence[View], spec: ImageSpec) -> set[int]:
    """How many times the image is reduced for any of the views."""
    return {reduction(view.box, spec.size) for view in views}


DrawViews = Callable[[Mapping[int, Image.Image], Sequence[View]], UInt8]
"""What draws views from decoded levels in place of `Drawing`: an encoder on its own device."""


class Drawing:
    """Views being drawn on all cores from decoded levels; `result` waits for them.

    A view is drawn from the level that suits it, or the finest there is. So the first of many views, drawn from the
    levels of all, have the very pixels they have when all are drawn at once.
    """

    def __init__(
        self, levels: Mapping[int, Image.Image], views: Sequence[View], spec: ImageSpec, *, exact: bool = False
    ) -> None:
        self._levels = levels
        self._spec = spec
        self._exact = exact
        self._out = np.empty((len(views), spec.size, spec.size, 3), dtype=np.uint8)
        self._pending = [_DRAWING.pool.submit(self._draw, i, view) for i, view in enumerate(views)]

    def result(self) -> UInt8:
        """The views (views, size, size, 3)."""
        for future in self._pending:
            future.result()
        return self._out

    def _draw(self, i: int, view: View) -> None:
        factor = max(f for f in self._levels if f <= reduction(view.box, self._spec.size))
        level = self._levels[factor]
        if view.source:
            drawn = _render_source(level, view, self._spec, factor)
        else:
            drawn = _render_crop(level, view, self._spec, factor, exact=self._exact)
        self._out[i] = np.asarray(drawn) if view.mix is None else mix_view(drawn, view.mix)


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


def _resized(size: tuple[int, int], spec: ImageSpec) -> tuple[int, int]:
    """(width, height) once the short side is spec.short_side; the long side is truncated, as torchvision does."""
    width, height = size
    if width <= height:
        return spec.short_side, int(spec.short_side * height / width)
    return int(spec.short_side * width / height), spec.short_side


def _centre(length: int, crop: int) -> int:
    return round((length - crop) / 2)
