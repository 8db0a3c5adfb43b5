"""Where the views of a photo look: crop boxes and flips sampled from an rng (Sec. 4.1).

View 0 is the source view: the model's own resize and centre crop. Views 1..N-1 are random resized crops of the full
image with torchvision's default distribution, flipped with probability one half; AugMix may mix them further.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

from ..errors import UsageError
from ..images.spec import ImageSpec
from ..prediction import Box
from ..rng import SampleRng
from .augmix import Mix

AREA = (0.08, 1.0)
RATIO = (3 / 4, 4 / 3)
TRIES = 10
FLIP_PROBABILITY = 0.5

# Area, ratio, left, top for each try, then the flip: a fixed number, so that views do not depend on N.
_DRAWS = 4 * TRIES + 1


@dataclass(frozen=True)
class View:
    """Where a view looks; `source` marks the one that is resized as the model wants it, `mix` is what AugMix does."""

    box: Box
    flip: bool
    source: bool = False
    mix: Mix | None = None


class SampledViews(Sequence[View]):
    """The source view and n_views - 1 random crops of an image of `size` (width, height), each found when asked for.

    View i is the same whatever n_views is, and most images need few of them.
    """

    def __init__(self, size: tuple[int, int], spec: ImageSpec, *, n_views: int, rng: SampleRng) -> None:
        if n_views < 1:
            raise UsageError(f"an image has at least 1 view, the source view; got {n_views}.")
        self._size = size
        self._draws = rng.uniform(n_views - 1, _DRAWS)
        self._found: list[View | None] = [
            View(source_box(size, spec), flip=False, source=True),
            *[None] * (n_views - 1),
        ]

    def __len__(self) -> int:
        return len(self._found)

    @overload
    def __getitem__(self, position: int) -> View: ...

    @overload
    def __getitem__(self, position: slice) -> list[View]: ...

    def __getitem__(self, position: int | slice) -> View | list[View]:
        if isinstance(position, slice):
            return [self[i] for i in range(*position.indices(len(self)))]
        found = self._found[position]
        if found is None:
            number = position % len(self)
            found = self._found[number] = _random_view(self._size, self._draws[number - 1].tolist())
        return found


def sample_views(size: tuple[int, int], spec: ImageSpec, *, n_views: int, rng: SampleRng) -> list[View]:
    """All of `SampledViews`."""
    return list(SampledViews(size, spec, n_views=n_views, rng=rng))


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


def _resized(size: tuple[int, int], spec: ImageSpec) -> tuple[int, int]:
    """(width, height) once the short side is spec.short_side; the long side is truncated, as torchvision does."""
    width, height = size
    if width <= height:
        return spec.short_side, int(spec.short_side * height / width)
    return int(spec.short_side * width / height), spec.short_side


def _centre(length: int, crop: int) -> int:
    return round((length - crop) / 2)
