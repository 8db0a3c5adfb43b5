"""Opening encoded images: which formats, how far their headers are read, and Pillow's own limit."""

import io
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from threading import Lock

from PIL import Image

from .extras import HEIF, is_heif, prepare_heif
from .failures import too_large
from .limits import ImageLimits

HERE = ("JPEG", "PNG", "WEBP", "GIF", "BMP", "PPM", "TGA")
"""Formats whose decoders take time and memory in proportion to their pixels."""

APART = ("TIFF", "JPEG2000", "ICO", "AVIF")
"""Formats that can ask for any amount of work in a few bytes: always opened in a process that can be stopped."""

FORMATS = (*HERE, *(APART if find_spec("PIL.AvifImagePlugin") else APART[:-1]))
"""What is decoded. Pillow knows more, some by running other programs (EPS): those stay shut."""

_STARTS = (
    b"II\x2a\x00", b"MM\x00\x2a", b"MM\x2a\x00", b"II\x00\x2a", b"II\x2b\x00", b"MM\x00\x2b",  # TIFF
    b"\xff\x4f\xff\x51", b"\x00\x00\x00\x0cjP  \r\n\x87\n", b"\x00\x00\x01\x00",  # JPEG 2000, ICO
)  # fmt: skip

_open_lock = Lock()


def must_be_read_apart(data: bytes) -> bool:
    """Whether even the header is to be read in a process that can be stopped."""
    return data.startswith(_STARTS) or data[4:8] == b"ftyp"


@contextmanager
def opened(file: io.BytesIO, name: str, limits: ImageLimits) -> Iterator[Image.Image]:
    """The encoded image, opened by Pillow as one of `FORMATS`, or as HEIF where that extra is installed."""
    formats = FORMATS
    head = file.read(1024)
    file.seek(0)
    if is_heif(head):
        prepare_heif(name)
        formats = (HEIF,)
    try:
        with pillow_obeys(limits):
            image = Image.open(file, formats=formats)
    except Image.DecompressionBombError as error:
        told = re.search(r"\((\d+) pixels\)", str(error))
        found = f"{int(told[1]):,}" if told else f"more than {limits.max_pixels:,}"
        raise too_large(name, found, limits.max_pixels, "pixels") from error
    with image:
        yield image


@contextmanager
def pillow_obeys(limits: ImageLimits) -> Iterator[None]:
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


class Metered(io.BytesIO):
    """Encoded bytes that are not read in too small pieces: Pillow reads headers in Python, a few bytes at a time.

    A file of a hundred megabytes can have so many empty blocks that going through them takes minutes.
    """

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self._left = 100_000 + len(data) // 64

    def read(self, size: int | None = -1, /) -> bytes:
        """The next bytes; OSError once there were too many pieces."""
        self._left -= 1
        if self._left < 0:
            raise OSError("it is in too many small pieces")
        return super().read(size)
