"""Safe decoding of any picture to upright RGB, within limits, at reduced scale where that loses nothing visible."""

import io
import os
import struct
import threading
import warnings
import zlib
from collections.abc import Callable, Collection
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError

from .errors import ImageTooLargeError, UnreadableImageError, UsageError
from .rng import content_key

ImageSource = str | os.PathLike[str] | bytes | bytearray | memoryview | BinaryIO | Image.Image | NDArray[Any]

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
"""File name endings taken for images when a folder is searched."""

_BROKEN = (
    OSError,
    SyntaxError,
    ValueError,
    EOFError,
    LookupError,
    TypeError,
    ArithmeticError,
    struct.error,
    zlib.error,
)
_ORIENTATION = 0x0112  # the EXIF tag; what undoes each of its values follows
_UPRIGHT = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
_open_lock = threading.Lock()


@dataclass(frozen=True)
class ImageLimits:
    """What is accepted, checked before any pixel is decoded."""

    max_bytes: int = 100_000_000
    max_pixels: int = 178_956_970  # the size at which Pillow itself refuses


class Photo:
    """An upright RGB image that is decoded once, no finer than its views need.

    `size` is (width, height) of the upright original, `name` what errors call it, and `key` a hash of the content: the
    sample key of a loose image, so that a renamed or moved photo keeps its views.
    """

    def __init__(self, decode: Callable[[int], Image.Image], *, size: tuple[int, int], name: str, key: str) -> None:
        self._decode = decode
        self.size = size
        self.name = name
        self.key = key

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


def open_photo(source: ImageSource, *, limits: ImageLimits | None = None) -> Photo:
    """The photo behind a path, bytes, a file object, a PIL image or an array; encoded sources are only peeked at."""
    limits = limits or ImageLimits()
    if isinstance(source, Image.Image):
        return _from_pil(source, limits)
    if isinstance(source, np.ndarray):
        return _from_pil(array_to_image(source), limits, name="array")
    data, name = _read(source, limits)
    with _peek(data, name) as image:
        _check_pixels(image.size, name, limits)
        size = (image.height, image.width) if _orientation(image) >= 5 else image.size
    return Photo(lambda factor: _decode(data, name, factor), size=size, name=name, key=content_key(data))


def to_rgb(image: Image.Image) -> Image.Image:
    """The image as upright 8-bit RGB: transparency over white, 16 bits scaled to 8, the first frame of animations."""
    orientation = _orientation(image)
    if orientation != 1:
        image = image.transpose(_UPRIGHT[orientation])
    if image.mode == "RGB" and "transparency" not in image.info:
        return image
    if image.mode.startswith("I"):  # 16-bit greyscale; "I" is how Pillow opens some 16-bit files
        return Image.fromarray(np.rint(np.clip(np.asarray(image), 0, 65535) / 257).astype(np.uint8)).convert("RGB")
    if image.mode == "F":
        return array_to_image(np.asarray(image)).convert("RGB")
    if image.has_transparency_data:
        image = image.convert("RGBA")
        return Image.alpha_composite(Image.new("RGBA", image.size, "white"), image).convert("RGB")
    return image.convert("RGB")


def array_to_image(array: NDArray[Any]) -> Image.Image:
    """An array (height, width[, 1, 3 or 4]) of uint8, uint16, bool, or floats in [0, 1], as a PIL image."""
    if array.ndim == 3 and array.shape[2] == 1:
        array = array[:, :, 0]
    if array.ndim not in (2, 3) or (array.ndim == 3 and array.shape[2] not in (3, 4)) or array.size == 0:
        hint = (
            " Channels come last: use array.transpose(1, 2, 0)."
            if array.ndim == 3 and array.shape[0] in (1, 3, 4)
            else ""
        )
        raise UsageError(
            f"an image array must be (height, width), (height, width, 3) or (..., 4); got {array.shape}.{hint}"
        )
    if array.dtype == np.bool_:
        array = array * np.uint8(255)
    elif array.dtype == np.uint16:
        array = np.rint(array / 257).astype(np.uint8)
    elif np.issubdtype(array.dtype, np.floating):
        if not (array.min() >= 0 and array.max() <= 1):  # also false for NaN
            raise UsageError(f"a float image must lie in [0, 1]; got values from {array.min()} to {array.max()}.")
        array = np.rint(array * 255).astype(np.uint8)
    elif array.dtype != np.uint8:
        raise UsageError(f"an image array must be uint8, uint16, bool or float; got {array.dtype}.")
    return Image.fromarray(np.ascontiguousarray(array))


def _from_pil(image: Image.Image, limits: ImageLimits, *, name: str = "") -> Photo:
    name = name or str(getattr(image, "filename", "") or "PIL image")
    _check_pixels(image.size, name, limits)
    try:
        rgb = to_rgb(image)
    except _BROKEN as error:
        raise _unreadable(name, error) from error
    key = content_key(f"{rgb.width}x{rgb.height}:".encode() + rgb.tobytes())

    def decode(factor: int) -> Image.Image:
        return rgb if factor == 1 else rgb.reduce(factor)

    return Photo(decode, size=rgb.size, name=name, key=key)


def _read(source: Any, limits: ImageLimits) -> tuple[bytes, str]:
    """The encoded bytes and what to call them."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        data, name = bytes(source), f"{len(source)} bytes"
    elif isinstance(source, (str, os.PathLike)):
        path = Path(source)
        name = str(path)
        try:
            if path.stat().st_size > limits.max_bytes:
                raise _too_large(name, f"{path.stat().st_size:,} bytes", f"{limits.max_bytes:,} bytes")
            data = path.read_bytes()
        except OSError as error:
            raise UnreadableImageError(f"cannot read {name}: {error.strerror or error}.") from error
    elif hasattr(source, "read"):
        name = str(getattr(source, "name", "file object"))
        data = source.read(limits.max_bytes + 1)
        if not isinstance(data, bytes):
            raise UsageError(f"{name} is opened as text; open it in binary mode ('rb').")
    else:
        raise UsageError(
            f"an image is a path, bytes, a binary file, a PIL image or an array; got {type(source).__name__}."
        )
    if len(data) > limits.max_bytes:
        raise _too_large(name, f"more than {limits.max_bytes:,} bytes", f"{limits.max_bytes:,} bytes")
    return data, name


def _peek(data: bytes, name: str) -> Image.Image:
    formats = [*FORMATS, "AVIF"] if find_spec("PIL.AvifImagePlugin") else FORMATS
    try:
        # Our own pixel limit speaks instead of Pillow's warning; its hard refusal is translated below.
        with _open_lock, warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            return Image.open(io.BytesIO(data), formats=formats)
    except Image.DecompressionBombError as error:
        raise _too_large(name, "too many pixels", str(error)) from error
    except _BROKEN as error:
        raise _unreadable(name, error) from error


def _decode(data: bytes, name: str, factor: int) -> Image.Image:
    """Upright RGB reduced `factor` times: inside the JPEG decoder where possible, by averaging otherwise."""
    try:
        with _peek(data, name) as image:
            width, height = image.size
            if factor > 1:
                image.draft(None, (-(-width // factor), -(-height // factor)))
            rgb = to_rgb(image)
            rgb.load()
            done = round(max(width, height) / max(rgb.size))
            return rgb if done == factor else rgb.reduce(factor // done)
    except _BROKEN as error:
        raise _unreadable(name, error) from error


def _orientation(image: Image.Image) -> int:
    """The EXIF orientation; 1 (upright) where there is none or the EXIF block is broken, for the pixels still count."""
    try:
        orientation = image.getexif().get(_ORIENTATION, 1)
    except _BROKEN:
        return 1
    return orientation if orientation in _UPRIGHT else 1


def _check_pixels(size: tuple[int, int], name: str, limits: ImageLimits) -> None:
    if size[0] * size[1] > limits.max_pixels:
        raise _too_large(name, f"{size[0]} x {size[1]} pixels", f"{limits.max_pixels:,} pixels")
    if 0 in size:
        raise UnreadableImageError(f"{name} is an empty image ({size[0]} x {size[1]} pixels).")


def _too_large(name: str, found: str, limit: str) -> ImageTooLargeError:
    return ImageTooLargeError(f"{name} has {found}; the limit is {limit}. Shrink it, or pass higher ImageLimits.")


def _unreadable(name: str, error: BaseException) -> UnreadableImageError:
    if isinstance(error, UnreadableImageError):
        return error
    reason = "it is not an image in a known format" if isinstance(error, UnidentifiedImageError) else str(error)
    return UnreadableImageError(f"cannot decode {name}: {reason or type(error).__name__}.")
