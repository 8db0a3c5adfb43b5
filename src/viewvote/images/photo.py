"""Safe decoding of any picture to upright RGB, within limits, at reduced scale where that loses nothing visible."""

import io
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from ..rng import content_key
from .apart import encoded_of, header_of, level_of
from .extras import endings_of_extras
from .failures import image_errors
from .formats import FORMATS as FORMATS
from .header import check_memory, check_size
from .limits import ImageLimits as ImageLimits
from .memory import MEMORY
from .rgb import array_to_image, to_rgb
from .source import ImageSource as ImageSource
from .source import name_of, read_encoded
from .tensors import foreign_array, is_foreign

EXTENSIONS = frozenset(
    [
        ".jpg",
        ".jpeg",
        ".png",
        ".webp",
        ".gif",
        ".bmp",
        ".tif",
        ".tiff",
        ".ppm",
        ".pgm",
        ".pbm",
        ".ico",
        ".tga",
        ".jp2",
        ".avif",
    ]
)
"""File name endings taken for images when a folder is searched; `image_endings` adds those of extras."""


def image_endings() -> frozenset[str]:
    """`EXTENSIONS`, and those of the extras that are installed."""
    return EXTENSIONS | endings_of_extras()


_DEFAULT = ImageLimits()


class Photo:
    """An upright RGB image that is decoded once, no finer than its views need.

    `size` is (width, height) of the upright original, `name` what errors call it, and `key` a hash of the content: the
    sample key of a loose image, so that a renamed or moved photo keeps its views.
    """

    def __init__(
        self,
        decode: Callable[[int], Image.Image],
        *,
        size: tuple[int, int],
        name: str,
        content: Callable[[], bytes],
        wants: Callable[[int], int] = lambda _: 0,
        memory: int = ImageLimits.decode_memory,
    ) -> None:
        self._decode = decode
        self._content = content
        self._wants = wants
        self._memory = memory
        self.size = size
        self.name = name

    @cached_property
    def key(self) -> str:
        """The hash of the content; images of a dataset have keys of their own and never need it."""
        with image_errors(self.name):
            return content_key(self._content())

    @contextmanager
    def decoded(self, factors: Collection[int] = (1,)) -> Iterator[dict[int, Image.Image]]:
        """The image reduced 1, 2, 4 or 8 times, for each factor asked for: decoded at the finest, then averaged.

        The memory for it is taken from that of all images being decoded, as long as the block lasts.
        """
        finest = min(factors)
        with MEMORY.share(self._wants(finest), of=self._memory) as share:
            with image_errors(self.name):
                level = self._decode(finest)
                levels = {finest: level}
                for factor in (2, 4, 8):
                    if finest < factor <= max(factors):
                        level = level.reduce(2)
                        levels[factor] = level
                levels = {factor: levels[factor] for factor in factors}
            share.shrink(4 * sum(level.width * level.height for level in levels.values()))
            yield levels

    def levels(self, factors: Collection[int] = (1,)) -> dict[int, Image.Image]:
        """What `decoded` gives, for as long as the caller keeps it."""
        with self.decoded(factors) as levels:
            return levels

    def full(self) -> Image.Image:
        """The image at its own resolution."""
        return self.levels()[1]


def open_photo(source: ImageSource | Photo, *, limits: ImageLimits | None = None) -> Photo:
    """The photo behind a path, bytes, a file object, a PIL image, an array or a tensor; files are only peeked at."""
    limits = limits or _DEFAULT
    if isinstance(source, Photo):
        check_size(source.size, source.name, limits)
        return source
    name = name_of(source)
    if isinstance(source, Image.Image):
        return _from_pil(source, name, limits)
    if isinstance(source, np.ndarray) or is_foreign(source):
        array = source if isinstance(source, np.ndarray) else foreign_array(source)
        _check_array(array, name, limits)
        return _from_pil(array_to_image(array), name, limits)
    data = encoded_of(read_encoded(source, limits), name, limits)
    header = header_of(data, name, limits)

    def wants(factor: int) -> int:
        wanted = header.decoding_bytes(factor)
        check_memory(wanted, header, name, limits)
        return wanted

    return Photo(
        lambda factor: level_of(data, name, header, factor=factor, limits=limits),
        size=header.upright,
        name=name,
        content=lambda: data,
        wants=wants,
        memory=limits.decode_memory,
    )


def pinned(source: ImageSource | Photo, *, limits: ImageLimits | None = None) -> ImageSource | Photo:
    """The image as it is now, whatever its owner then refills, changes or closes; paths and bytes stay unread."""
    limits = limits or _DEFAULT
    name = name_of(source)
    with image_errors(name, doing="read"):
        if isinstance(source, (bytearray, memoryview)):
            return read_encoded(source, limits)
        if isinstance(source, Image.Image):
            return _from_pil(source, name, limits)
        if isinstance(source, np.ndarray) or is_foreign(source):
            array = source if isinstance(source, np.ndarray) else foreign_array(source)
            _check_array(array, name, limits)
            return array.copy()
        if hasattr(source, "read"):
            held = io.BytesIO(read_encoded(source, limits))
            held.name = name
            return held
        return source


def _check_array(array: NDArray[Any], name: str, limits: ImageLimits) -> None:
    if array.ndim in (2, 3) and array.size:
        check_size((array.shape[1], array.shape[0]), name, limits)


def _from_pil(image: Image.Image, name: str, limits: ImageLimits) -> Photo:
    check_size(image.size, name, limits)
    with image_errors(name):
        rgb = to_rgb(image)
        pixels = rgb.copy() if rgb is image else rgb  # a photo does not change when the caller's image does

    def decode(factor: int) -> Image.Image:
        return pixels if factor == 1 else pixels.reduce(factor)

    def content() -> bytes:
        return f"{pixels.width}x{pixels.height}:".encode() + pixels.tobytes()

    return Photo(decode, size=pixels.size, name=name, content=content)
