"""Changes of images that know their formats: what is changed is read, where changed bytes alone would be refused."""

import random
import struct
from collections.abc import Callable

from . import bmp, boxes, gif, ico, jpeg, netpbm, png, tga, tiff, webp

_BY_START: tuple[tuple[bytes, Callable[[bytes, random.Random], bytes]], ...] = (
    (b"\xff\xd8\xff", jpeg.mutated),
    (b"\x89PNG", png.mutated),
    (b"II\x2a\0", tiff.mutated),
    (b"MM\0\x2a", tiff.mutated),
    (b"RIFF", webp.mutated),
    (b"GIF8", gif.mutated),
    (b"BM", bmp.mutated),
    (b"\0\0\1\0", ico.mutated),
    (b"P", netpbm.mutated),
)


def mutated_picture(data: bytes, rng: random.Random) -> bytes:
    """The image changed as its format suggests; as it is where a change of a change is no number of its field."""
    try:
        return _change_of(data)(data, rng)
    except struct.error:
        return data


def _change_of(data: bytes) -> Callable[[bytes, random.Random], bytes]:
    """By the first bytes; TGA, which starts with anything, where no other format has them."""
    if data[4:8] in (b"ftyp", b"jP  "):
        return boxes.mutated
    return next((change for start, change in _BY_START if data.startswith(start)), tga.mutated)
