"""Upright 8-bit RGB out of any PIL image or array, a strip at a time where it is large."""

import struct
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from ..errors import UsageError

STRIP = 1 << 20
"""Pixels converted at a time: a large image would need several times its memory in between."""

STRIP_BYTES = 16 * STRIP
"""What converting a strip takes at most: as it is stored, with transparency, a white ground, and as RGB."""

BROKEN_EXIF = (
    OSError,
    SyntaxError,
    ValueError,
    EOFError,
    LookupError,
    TypeError,
    ArithmeticError,
    RuntimeError,
    AssertionError,
    AttributeError,
    MemoryError,
    struct.error,
    zlib.error,
)
"""What Pillow is known to raise for a damaged EXIF block."""

ORIENTATION = 0x0112  # the EXIF tag; what undoes each of its values follows
_UPRIGHT = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
SWAPPED = frozenset([5, 6, 7, 8])
"""Orientations whose width and height are those of the other side."""

_FROM_RIGHT, _FROM_BOTTOM = frozenset([7, 8]), frozenset([3, 4])  # where the stored image holds the upright one's top


def is_plain(image: Image.Image) -> bool:
    """Whether its pixels are RGB as they are."""
    return image.mode == "RGB" and "transparency" not in image.info


def to_rgb(image: Image.Image, *, orientation: int | None = None, factor: int = 1) -> Image.Image:
    """The image as upright 8-bit RGB, reduced `factor` times by averaging.

    Transparency is laid over white, 16 bits are scaled to 8, and of an animation the first frame counts. Without an
    `orientation` the image's own is undone.
    """
    image.load()  # first, for a TIFF turns itself upright then
    turn = orientation_of(image) if orientation is None else orientation
    if is_plain(image) and turn == 1:
        return _reduced(image, factor)
    deep = image.mode.startswith("I") and _is_deep(image)
    if image.width * image.height <= STRIP:
        return _converted(_turned(image, turn), factor, deep=deep)
    width, height = image.size[::-1] if turn in SWAPPED else image.size
    rgb = Image.new("RGB", (-(-width // factor), -(-height // factor)))
    for top, box in _strips(image.size, turn, factor):
        strip = _turned(image.crop(box), turn)
        rgb.paste(_converted(strip, factor, deep=deep), (0, top // factor))
    return rgb


def _strips(size: tuple[int, int], turn: int, factor: int) -> Iterator[tuple[int, tuple[int, int, int, int]]]:
    """The top of each strip of the upright image, and where the stored image of that size holds it."""
    width, height = size
    across, down = (height, width) if turn in SWAPPED else (width, height)
    rows = max(1, STRIP // across // factor) * factor
    for top in range(0, down, rows):
        end = min(top + rows, down)
        if turn in SWAPPED:
            left, right = (width - end, width - top) if turn in _FROM_RIGHT else (top, end)
            yield top, (left, 0, right, height)
        else:
            upper, lower = (height - end, height - top) if turn in _FROM_BOTTOM else (top, end)
            yield top, (0, upper, width, lower)


def _turned(image: Image.Image, turn: int) -> Image.Image:
    return image.transpose(_UPRIGHT[turn]) if turn in _UPRIGHT else image


def _reduced(image: Image.Image, factor: int) -> Image.Image:
    return image if factor == 1 else image.reduce(factor)


def _converted(image: Image.Image, factor: int, *, deep: bool) -> Image.Image:
    """RGB, reduced; greyscale is reduced before it becomes three times as many values."""
    if is_plain(image):
        return _reduced(image, factor)
    if image.mode.startswith("I"):
        grey = np.asarray(image)
        grey = _eight_bits(np.clip(grey, 0, 65535)) if deep else np.clip(grey, 0, 255).astype(np.uint8)
        image = Image.fromarray(grey)
    elif image.mode == "F":
        image = array_to_image(np.asarray(image))
    elif image.mode == "P" and image.has_transparency_data:
        image = _with_opaque_palette(image)
    elif image.has_transparency_data:
        image = _over_white(image)
    grey_or_rgb = image.convert("L" if image.mode in ("1", "L") else "RGB")
    return _reduced(grey_or_rgb, factor).convert("RGB")


def _over_white(image: Image.Image) -> Image.Image:
    image = image.convert("RGBA")
    return Image.alpha_composite(Image.new("RGBA", image.size, "white"), image).convert("RGB")


def _with_opaque_palette(image: Image.Image) -> Image.Image:
    """The image with the colours of its palette laid over white, instead of every pixel."""
    swatch = image.crop((0, 0, 256, 1))  # it has the palette, and then a pixel of every colour
    swatch.putdata(range(256))
    opaque = image.copy()
    opaque.info.pop("transparency", None)
    opaque.putpalette(_over_white(swatch).tobytes())
    return opaque


def _eight_bits(deep: NDArray[Any]) -> NDArray[np.uint8]:
    """Numbers of 16 bits divided by 257, to the nearest; a test goes through all of them."""
    eight: NDArray[np.uint8] = ((deep.astype(np.uint32) * 255 + 32895) >> 16).astype(np.uint8)
    return eight


def _is_deep(image: Image.Image) -> bool:
    """Whether greyscale integers have 16 bits; where their number is not known, their range decides."""
    if image.mode.startswith("I;16") or image.format in ("PNG", "PPM"):  # formats where "I" is 16 bits
        return True
    largest: Any = image.getextrema()[1]
    return bool(largest > 255)


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
    if np.issubdtype(array.dtype, np.floating):
        if not (array.min() >= 0 and array.max() <= 1):  # also false for NaN
            raise UsageError(f"a float image must lie in [0, 1]; got values from {array.min()} to {array.max()}.")
    elif array.dtype not in (np.uint8, np.uint16, np.bool_):
        raise UsageError(f"an image array must be uint8, uint16, bool or float; got {array.dtype}.")
    return Image.fromarray(np.ascontiguousarray(array if array.dtype == np.uint8 else _to_bytes(array)))


def _to_bytes(array: NDArray[Any]) -> NDArray[np.uint8]:
    """The values scaled to 0..255, some rows at a time."""
    out = np.empty(array.shape, dtype=np.uint8)
    rows = max(1, STRIP // array[0].size)
    for top in range(0, len(array), rows):
        some = array[top : top + rows]
        if array.dtype == np.bool_:
            out[top : top + rows] = some * np.uint8(255)
        elif array.dtype == np.uint16:
            out[top : top + rows] = _eight_bits(some)
        else:
            out[top : top + rows] = np.rint(some * 255)
    return out


def orientation_of(image: Image.Image) -> int:
    """The EXIF orientation; 1 (upright) where there is none or the EXIF block is broken, for the pixels still count."""
    try:
        orientation = Image.Image.getexif(image).get(ORIENTATION, 1)  # a PNG's own would decode it, to look behind
    except BROKEN_EXIF:
        return 1
    return orientation if orientation in _UPRIGHT else 1
