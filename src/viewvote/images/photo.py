"""Safe decoding of any picture to upright RGB, within limits, at reduced scale where that loses nothing visible."""

import io
import os
import re
import threading
import warnings
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError

from ..errors import ImageError, ImageTooLargeError, UnreadableImageError, UsageError
from ..rng import content_key
from .extras import HEIF, endings_of_extras, is_heif, prepare_heif, preview_of
from .rgb import BROKEN, ORIENTATION, array_to_image, orientation_of, to_rgb
from .tensors import BecomesArray, foreign_array, is_foreign, is_tensor

ImageSource = (
    str | os.PathLike[str] | bytes | bytearray | memoryview | BinaryIO | Image.Image | NDArray[Any] | BecomesArray
)

FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF", "PPM", "ICO", "TGA", "JPEG2000")
"""What is decoded. Pillow knows more, some by running other programs (EPS): those stay shut."""

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


_PNG_ORIENTATIONS = (b"eXIf", b"Raw profile type exif", b"XML:com.adobe.xmp")  # where Pillow finds one
_LARGE = 50_000_000  # pixels; what Pillow may refuse or warn of is larger
_open_lock = threading.Lock()


@dataclass(frozen=True)
class ImageLimits:
    """What is accepted, checked before any pixel is decoded."""

    max_bytes: int = 100_000_000
    max_pixels: int = 178_956_970  # beyond this Pillow by itself would refuse


class Photo:
    """An upright RGB image that is decoded once, no finer than its views need.

    `size` is (width, height) of the upright original, `name` what errors call it, and `key` a hash of the content: the
    sample key of a loose image, so that a renamed or moved photo keeps its views.
    """

    def __init__(
        self, decode: Callable[[int], Image.Image], *, size: tuple[int, int], name: str, content: Callable[[], bytes]
    ) -> None:
        self._decode = decode
        self._content = content
        self.size = size
        self.name = name

    @cached_property
    def key(self) -> str:
        """The hash of the content; images of a dataset have keys of their own and never need it."""
        return content_key(self._content())

    def levels(self, factors: Collection[int] = (1,)) -> dict[int, Image.Image]:
        """The image reduced 1, 2, 4 or 8 times, for each factor asked for: decoded at the finest, then averaged."""
        finest = min(factors)
        level = self._decode(finest)
        levels = {finest: level}
        for factor in (2, 4, 8):
            if finest < factor <= max(factors):
                level = level.reduce(2)
                levels[factor] = level
        return {factor: levels[factor] for factor in factors}

    def full(self) -> Image.Image:
        """The image at its own resolution."""
        return self.levels()[1]


def open_photo(source: ImageSource | Photo, *, limits: ImageLimits | None = None) -> Photo:
    """The photo behind a path, bytes, a file object, a PIL image, an array or a tensor; files are only peeked at."""
    limits = limits or ImageLimits()
    if isinstance(source, Photo):
        _check_pixels(source.size, source.name, limits)
        return source
    if isinstance(source, Image.Image):
        return _from_pil(source, limits)
    if isinstance(source, np.ndarray) or is_foreign(source):
        array = source if isinstance(source, np.ndarray) else foreign_array(source)
        return _from_pil(array_to_image(array), limits, name="tensor" if is_tensor(source) else "array")
    data, name = _read(source, limits)
    data = preview_of(data, name)
    with _peek(data, name, limits) as image:
        _check_pixels(image.size, name, limits)
        # A TIFF that is turned by its own tag already reports its upright size.
        turned = _may_be_turned(image, data) and orientation_of(image) >= 5
        turned = turned and ORIENTATION not in getattr(image, "tag_v2", ())
        size = (image.height, image.width) if turned else image.size
    return Photo(lambda factor: _decode(data, name, factor, limits), size=size, name=name, content=lambda: data)


def pinned(source: ImageSource | Photo, *, limits: ImageLimits | None = None) -> ImageSource | Photo:
    """The image as it is now, whatever its owner then refills, changes or closes; paths and bytes stay unread."""
    limits = limits or ImageLimits()
    if isinstance(source, (bytearray, memoryview)):
        return bytes(source)
    if isinstance(source, np.ndarray):
        return source.copy()
    if is_foreign(source):
        return np.array(foreign_array(source))
    if isinstance(source, Image.Image):
        return _from_pil(source, limits)
    if hasattr(source, "read"):
        data, name = _read(source, limits)
        held = io.BytesIO(data)
        held.name = name
        return held
    return source


def _from_pil(image: Image.Image, limits: ImageLimits, *, name: str = "") -> Photo:
    name = name or str(getattr(image, "filename", "") or "PIL image")
    _check_pixels(image.size, name, limits)
    try:
        rgb = to_rgb(image)
    except BROKEN as error:
        raise _unreadable(name, error) from error
    pixels = rgb.copy() if rgb is image else rgb  # a photo does not change when the caller's image does

    def decode(factor: int) -> Image.Image:
        return pixels if factor == 1 else pixels.reduce(factor)

    def content() -> bytes:
        return f"{pixels.width}x{pixels.height}:".encode() + pixels.tobytes()

    return Photo(decode, size=pixels.size, name=name, content=content)


def _read(source: Any, limits: ImageLimits) -> tuple[bytes, str]:
    """The encoded bytes and what to call them."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        data, name = bytes(source), f"{len(source)} bytes"
    elif isinstance(source, (str, os.PathLike)):
        path = Path(source)
        name = str(path)
        try:
            with path.open("rb") as file:
                size = os.fstat(file.fileno()).st_size  # 0 for a pipe, hence the second look below
                data = b"" if size > limits.max_bytes else file.read(limits.max_bytes + 1)
            if size > limits.max_bytes:
                raise _too_large(name, f"{size:,}", limits.max_bytes, "bytes")
        except OSError as error:
            raise UnreadableImageError(f"cannot read {name}: {error.strerror or error}.") from error
    elif hasattr(source, "read"):
        name = str(getattr(source, "name", None) or "file object")  # a spooled upload's is None
        try:
            data = source.read(limits.max_bytes + 1)
        except (OSError, ValueError) as error:  # ValueError: it is closed
            raise UnreadableImageError(f"cannot read {name}: {error}.") from error
        if not isinstance(data, bytes):
            raise UsageError(f"{name} is opened as text; open it in binary mode ('rb').")
    else:
        raise UsageError(
            f"an image is a path, bytes, a binary file, a PIL image, an array or a tensor; got {type(source).__name__}."
        )
    if len(data) > limits.max_bytes:
        raise _too_large(name, f"more than {limits.max_bytes:,}", limits.max_bytes, "bytes")
    return data, name


def _peek(data: bytes, name: str, limits: ImageLimits) -> Image.Image:
    formats = [*FORMATS, "AVIF"] if find_spec("PIL.AvifImagePlugin") else [*FORMATS]
    if is_heif(data):
        prepare_heif(name)
        formats = [HEIF]
    try:
        with _pillow_obeys(limits):
            return Image.open(io.BytesIO(data), formats=formats)
    except Image.DecompressionBombError as error:
        told = re.search(r"\((\d+) pixels\)", str(error))
        found = f"{int(told[1]):,}" if told else f"more than {limits.max_pixels:,}"
        raise _too_large(name, found, limits.max_pixels, "pixels") from error
    except BROKEN as error:
        raise _unreadable(name, error) from error


@contextmanager
def _pillow_obeys(limits: ImageLimits) -> Iterator[None]:
    """While it lasts, Pillow refuses nothing within `limits` and warns of no size.

    Its own limit is a global, hence one thread at a time. It is raised and never lowered or lifted: other threads may
    be opening images of their own, and images inside of images (ICO) are checked by Pillow alone.
    """
    with _open_lock, warnings.catch_warnings():
        warnings.simplefilter("ignore", Image.DecompressionBombWarning)
        before = Image.MAX_IMAGE_PIXELS
        if before is not None:
            Image.MAX_IMAGE_PIXELS = max(before, -(-limits.max_pixels // 2))  # Pillow refuses twice as many
        try:
            yield
        finally:
            Image.MAX_IMAGE_PIXELS = before


def _decode(data: bytes, name: str, factor: int, limits: ImageLimits) -> Image.Image:
    """Upright RGB reduced `factor` times: inside the JPEG decoder where possible, by averaging otherwise."""
    try:
        with _peek(data, name, limits) as image:
            done = _draft(image, factor)
            if image.format == "TIFF" and image.width * image.height > _LARGE:  # Pillow looks at its size once more
                with _pillow_obeys(limits):
                    image.load()
            rgb = to_rgb(image)
            return rgb if done == factor else rgb.reduce(factor // done)
    except ImageError:
        raise
    except BROKEN as error:
        raise _unreadable(name, error) from error


def _may_be_turned(image: Image.Image, data: bytes) -> bool:
    """False for a PNG that cannot hold an orientation: asked for one, Pillow would first decode all of it."""
    return image.format != "PNG" or any(mark in data for mark in _PNG_ORIENTATIONS)


def _draft(image: Image.Image, factor: int) -> int:
    """How many times the decoder will reduce the image by itself, asked to do so `factor` times: 1 unless a JPEG."""
    width, height = image.size
    drafted = image.draft(None, (max(1, width // factor), max(1, height // factor))) if factor > 1 else None
    return 1 if drafted is None else round(width / drafted[1][2])  # its box is the old size over that number


def _check_pixels(size: tuple[int, int], name: str, limits: ImageLimits) -> None:
    if size[0] * size[1] > limits.max_pixels:
        raise _too_large(name, f"{size[0]} x {size[1]}", limits.max_pixels, "pixels")
    if 0 in size:
        raise UnreadableImageError(f"{name} is an empty image ({size[0]} x {size[1]} pixels).")


def _too_large(name: str, found: str, limit: int, unit: str) -> ImageTooLargeError:
    raised = f"raise the limit with --max-{unit}, in Python ImageLimits(max_{unit}=...)"
    return ImageTooLargeError(f"{name} has {found} {unit}; the limit is {limit:,} {unit}. Shrink it, or {raised}.")


def _unreadable(name: str, error: BaseException) -> UnreadableImageError:
    reason = "it is not an image in a known format" if isinstance(error, UnidentifiedImageError) else str(error)
    return UnreadableImageError(f"cannot decode {name}: {reason or type(error).__name__}.")
