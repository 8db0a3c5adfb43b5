"""Upright 8-bit RGB out of any PIL image or array."""

import struct
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from ..errors import UsageError

BROKEN = (
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
    Image.DecompressionBombError,
)
"""What Pillow and its decoders are known to raise for a damaged, closed or outsized image."""

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


def to_rgb(image: Image.Image) -> Image.Image:
    """The image as upright 8-bit RGB: transparency over white, 16 bits scaled to 8, the first frame of animations."""
    image.load()  # first, for a TIFF turns itself upright then
    deep = image.mode.startswith("I;16") or image.format in ("PNG", "PPM")  # formats where "I" is 16 bits
    orientation = orientation_of(image)
    if orientation != 1:
        image = image.transpose(_UPRIGHT[orientation])
    if image.mode == "RGB" and "transparency" not in image.info:
        return image
    if image.mode.startswith("I"):
        return _integers_to_rgb(np.asarray(image), deep=deep)
    if image.mode == "F":
        return array_to_image(np.asarray(image)).convert("RGB")
    if image.has_transparency_data:
        image = image.convert("RGBA")
        return Image.alpha_composite(Image.new("RGBA", image.size, "white"), image).convert("RGB")
    return image.convert("RGB")


def _integers_to_rgb(grey: NDArray[Any], *, deep: bool) -> Image.Image:
    """Greyscale integers as RGB: 16 bits scaled to 8; where their number is not known, their range decides."""
    if deep or grey.max() > 255:
        grey = np.rint(np.clip(grey, 0, 65535) / 257)
    return Image.fromarray(np.clip(grey, 0, 255).astype(np.uint8)).convert("RGB")


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


def orientation_of(image: Image.Image) -> int:
    """The EXIF orientation; 1 (upright) where there is none or the EXIF block is broken, for the pixels still count."""
    try:
        orientation = image.getexif().get(ORIENTATION, 1)
    except BROKEN:
        return 1
    return orientation if orientation in _UPRIGHT else 1
