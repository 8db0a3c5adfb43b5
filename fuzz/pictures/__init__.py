"""Changes of images that know their formats: what is changed is read, where changed bytes alone would be refused."""

import random
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
    """The image changed as its format suggests; as a TGA, which starts with anything, where it has none."""
    for start, change in _BY_START:
        if data.startswith(start):
            return change(data, rng)
    if data[4:8] in (b"ftyp", b"jP  "):
        return boxes.mutated(data, rng)
    return tga.mutated(data, rng)
