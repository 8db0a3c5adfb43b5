"""ICO: directories of many entries, which overlap, and hold PNGs and bitmaps of other sizes than they say."""

import io
import random
import struct
from functools import cache

from PIL import Image


@cache
def _inside() -> tuple[bytes, ...]:
    found = []
    for size in ((16, 16), (40, 7), (300, 200)):
        out = io.BytesIO()
        Image.new("RGBA", size, (9, 99, 200, 128)).save(out, "PNG")
        found.append(out.getvalue())
    return tuple(found)


def _bitmap(rng: random.Random) -> bytes:
    width, height = rng.choice((1, 16, 17, 256, 1224, -5)), rng.choice((2, 32, 33, 512, 2448, -32, 0))
    bits, pressed = rng.choice((1, 4, 8, 16, 24, 32, 7)), rng.choice((0, 0, 0, 1, 2, 3, 4))
    head = struct.pack("<IiiHHIIiiII", rng.choice((40, 40, 12, 124)), width, height, 1, bits, pressed, 0, 0, 0, 0, 0)
    return head + rng.randbytes(rng.choice((0, 64, 2000, 20_000)))


def mutated(data: bytes, rng: random.Random) -> bytes:
    """A directory of new entries, or the file's with one value changed."""
    if rng.random() < 0.4 and len(data) > 22:
        out = bytearray(data)
        for _ in range(rng.randint(1, 3)):
            out[rng.randrange(4, min(len(out), 70))] = rng.choice((0, 1, 2, 16, 255))
        return bytes(out)
    images = [rng.choice((*_inside(), _bitmap(rng), _bitmap(rng))) for _ in range(rng.choice((1, 1, 2, 30)))]
    at, rows, body = 6 + 16 * len(images), [], b""
    for image in images:
        start = at + len(body) if rng.random() < 0.9 else rng.choice((0, 6, 2**31))
        length = len(image) if rng.random() < 0.9 else rng.choice((0, 1, 2**31))
        side = [rng.choice((0, 16, 40, 255)) for _ in range(2)]
        rows.append(struct.pack("<BBBBHHII", *side, 0, 0, 1, rng.choice((1, 8, 32, 0)), length, start))
        body += image
    count = len(images) if rng.random() < 0.95 else rng.choice((0, 65_535))
    return struct.pack("<HHH", 0, 1, count) + b"".join(rows) + body
