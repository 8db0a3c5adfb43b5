"""BMP: headers of every version, masks, palettes and compressions that may not fit."""

import random
import struct


def mutated(data: bytes, rng: random.Random) -> bytes:
    """A header of this module's own before pixels, or the file's with one value changed."""
    if rng.random() < 0.4 and len(data) > 54:
        out = bytearray(data)
        for _ in range(rng.randint(1, 3)):
            at = rng.choice((10, 14, 18, 22, 26, 28, 30, 34, 46, 50))
            number = rng.choice((0, 1, 4, 8, 12, 16, 24, 32, 40, 108, 124, 257, 1224, 65_535, 2**31, 2**32 - 20))
            out[at : at + 4] = struct.pack("<I", number)
        return bytes(out)
    width, height = rng.choice((1, 24, 257, 1224)), rng.choice((1, 16, 130, 1224, -16, -130, 0))
    bits, pressed, size = (
        rng.choice((1, 2, 4, 8, 16, 24, 32)),
        rng.choice((0, 0, 0, 1, 2, 3, 4, 5, 6)),
        rng.choice((12, 40, 52, 56, 64, 108, 124, 7)),
    )
    if size == 12:
        head = struct.pack("<IHHHH", 12, width, abs(height), 1, bits)
    else:
        colours = rng.choice((0, 2, 256, 257, 2**31))
        head = struct.pack("<IiiHHIIiiII", size, width, height, 1, bits, pressed, 0, 0, 0, colours, 0)
        masks = rng.choice(((0xF800, 0x7E0, 0x1F, 0), (0xFF0000, 0xFF00, 0xFF, 0xFF000000), (1, 2, 3, 4), (0, 0, 0, 0)))
        head = (head + struct.pack("<IIII", *masks)).ljust(size, b"\0")[: max(size, 40)]
    body = rng.randbytes(rng.choice((0, 100))) + bytes(rng.choice((0, 400, 70_000)))
    start = 14 + len(head) + rng.choice((0, 4, 1024))
    return b"BM" + struct.pack("<IHHI", start + len(body), 0, 0, start) + head + body
