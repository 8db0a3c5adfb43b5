"""What is known of an encoded image before it is decoded: kind, size, how it is turned, and what it will cost."""

import io
from dataclasses import dataclass
from typing import Any

from PIL import Image

from ..errors import ImageTooLargeError, UnreadableImageError
from .failures import image_errors, shown, too_large
from .formats import HERE, Metered, opened
from .limits import ImageLimits
from .markers import count_scans, png_is_said_to_be_turned, png_without_pixels, webp_canvas
from .rgb import ORIENTATION, STRIP_BYTES, SWAPPED, is_plain, orientation_of

_PYTHON_DECODERS = {"bmp_rle": "run-length encoded", "ppm_plain": "written as text", "ppm": "not of 8 or 16 full bits"}
_JPEG = ("JPEG", "MPO")  # the latter are several in a file; the first one counts
_BYTES = {"1": 1, "L": 1, "P": 1, "I;16": 2, "I;16B": 2, "I;16L": 2, "I;16N": 2}  # of a pixel; 4 in all other modes
_CODEC_BYTES = {"WEBP": 16, "AVIF": 16, "JPEG2000": 24, "ICO": 12, "HEIF": 16}
"""What a decoder holds for each pixel beside the decoded ones: canvases, planes of integers."""

_ROWS_PER_STRIP, _TILE_WIDTH, _TILE_LENGTH = 278, 322, 323  # tags of a TIFF

LONG_PIXELS = 25_000_000
"""More may take seconds to decode: then in a process that can be stopped. Of a JPEG, ten times as many in all scans."""

LONG_LOSSLESS = 1_000_000
"""Bytes of a lossless WebP whose tables may take a thousand times as many."""


@dataclass(frozen=True)
class Header:
    """What decides how an image is decoded; plain values, so that another process can find them out.

    size         (width, height) as stored
    orientation  the EXIF orientation that is undone after decoding
    upright      (width, height) once it is
    plain        whether its pixels are RGB as they are
    held         bytes that the decoder needs at full size beside the pixels it returns
    apart        whether it is decoded in a process that can be stopped
    """

    format: str
    mode: str
    size: tuple[int, int]
    orientation: int
    upright: tuple[int, int]
    plain: bool
    held: int
    apart: bool

    def decoding_bytes(self, factor: int) -> int:
        """About what it takes at most to decode the image reduced `factor` times."""
        pixels = self.size[0] * self.size[1]
        reduced = (-(-self.size[0] // factor)) * (-(-self.size[1] // factor))
        by_decoder = self.format in _JPEG
        stored = _BYTES.get(self.mode, 4) * (reduced if by_decoder else pixels)
        if self.plain and self.orientation == 1 and (by_decoder or factor == 1):
            return self.held + stored
        return self.held + stored + 4 * reduced + STRIP_BYTES


def read_header(data: bytes, name: str, limits: ImageLimits) -> Header:
    """The header of an encoded image within the limits; nothing of its pixels is decoded."""
    scans = count_scans(data, name, most=limits.max_scans) if data.startswith(b"\xff\xd8\xff") else 1
    if scans > limits.max_scans:
        raise too_large(name, f"more than {limits.max_scans}", limits.max_scans, "scans")
    if data.startswith(b"RIFF") and (canvas := webp_canvas(data)) is not None:
        check_size(canvas, name, limits)
    with image_errors(name), opened(Metered(data), name, limits) as image:
        check_size(image.size, name, limits)
        _check_decoder(image, data, name)
        orientation = _orientation(image, data, name, limits)
        turned = orientation in SWAPPED
        # A TIFF that is turned by its own tag already reports its upright size.
        if image.format == "TIFF" and ORIENTATION in getattr(image, "tag_v2", ()):
            turned = False
        return Header(
            format=str(image.format),
            mode=image.mode,
            size=image.size,
            orientation=orientation,
            upright=(image.height, image.width) if turned else image.size,
            plain=is_plain(image),
            held=_held(image, scans),
            apart=_takes_long(image, scans, data),
        )


def check_size(size: tuple[int, int], name: str, limits: ImageLimits) -> None:
    """Raise unless the size is within the limits."""
    if size[0] * size[1] > limits.max_pixels:
        raise too_large(name, f"{size[0]} x {size[1]}", limits.max_pixels, "pixels")
    if max(size) > limits.max_side:
        raise too_large(name, f"{size[0]} x {size[1]}", limits.max_side, "side")
    if min(size) < 1:
        raise UnreadableImageError(f"{shown(name)} is an empty image ({size[0]} x {size[1]} pixels).")


def check_memory(wanted: int, header: Header, name: str, limits: ImageLimits) -> None:
    """Raise unless an image can be decoded in the memory that there is for it."""
    if wanted > limits.decode_memory:
        width, height = header.size
        raise ImageTooLargeError(
            f"{shown(name)} ({width} x {height} pixels, {header.format}) needs about {_megabytes(wanted)} to decode; "
            f"the limit is {_megabytes(limits.decode_memory)}. Shrink it, or pass ImageLimits with more decode_memory."
        )


def _orientation(image: Image.Image, data: bytes, name: str, limits: ImageLimits) -> int:
    if image.format != "PNG":
        return orientation_of(image)
    if not png_is_said_to_be_turned(data, name):
        return 1
    with opened(io.BytesIO(png_without_pixels(data, name)), name, limits) as head:
        return orientation_of(head)


def _check_decoder(image: Image.Image, data: bytes, name: str) -> None:
    """Raise unless the pixels are decoded by compiled code, and all of them can be there."""
    for decoder, _, offset, _ in getattr(image, "tile", ()):
        if decoder in _PYTHON_DECODERS:
            how = _PYTHON_DECODERS[decoder]
            raise UnreadableImageError(
                f"cannot decode {shown(name)}: a {image.format} that is {how} takes too long to decode; save it as PNG."
            )
        if decoder == "raw" and image.format in HERE and image.width * image.height > 8 * (len(data) - offset):
            raise UnreadableImageError(f"cannot decode {shown(name)}: image file is truncated.")


def _held(image: Image.Image, scans: int) -> int:
    width, height = image.size
    if image.format in _JPEG and (scans > 1 or "progressive" in image.info):
        layers: Any = getattr(image, "layer", ())
        across, down = max((one[1] for one in layers), default=1), max((one[2] for one in layers), default=1)
        return sum(2 * width * one[1] // across * height * one[2] // down for one in layers)  # coefficients of 16 bits
    if image.format == "TIFF":
        tags: Any = getattr(image, "tag_v2", {})
        strip = width * min(height, _number(tags.get(_ROWS_PER_STRIP), height))
        tile = _number(tags.get(_TILE_WIDTH), 0) * _number(tags.get(_TILE_LENGTH), 0)
        turning = 4 * width * height if tags.get(ORIENTATION, 1) != 1 else 0
        return 8 * (tile or strip) + turning
    return _CODEC_BYTES.get(str(image.format), 0) * width * height


def _number(value: object, default: int) -> int:
    return value if isinstance(value, int) and value > 0 else default


def _takes_long(image: Image.Image, scans: int, data: bytes) -> bool:
    pixels = image.width * image.height
    if image.format in _JPEG:
        return pixels * scans > 10 * LONG_PIXELS
    if image.format == "WEBP" and (getattr(image, "is_animated", False) or b"VP8L" in data[:64]):
        return pixels > LONG_PIXELS or len(data) > LONG_LOSSLESS
    return pixels > LONG_PIXELS or image.format not in HERE + _JPEG


def _megabytes(count: int) -> str:
    return f"{count / 1e6:,.0f} MB"
