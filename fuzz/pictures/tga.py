"""TGA, which has no signature: image types, maps, depths and run lengths."""

import random
import struct


def mutated(data: bytes, rng: random.Random) -> bytes:
    """A header of its own and pixels that may be run lengths."""
    sides = [rng.choice((1, 24, 30, 257, 1224, 65_535)) for _ in range(2)]
    kind, bits = rng.choice((1, 2, 3, 9, 10, 11, 0, 32)), rng.choice((1, 8, 15, 16, 24, 32))
    mapped = rng.choice((0, 1, kind in (1, 9)))
    length = rng.choice((0, 2, 256, 65_535)) if mapped else 0
    words = rng.choice((0, 0, 5, 255))
    header = struct.pack(
        "<BBBHHBHHHHBB",
        words,
        mapped,
        kind,
        0,
        length,
        rng.choice((16, 24, 32)),
        0,
        0,
        *sides,
        bits,
        rng.choice((0, 8, 16, 32, 40, 255)),
    )
    pixels = rng.choice((rng.randbytes(3000), b"\xff\1\2\3\4" * 700, bytes(9000), data[18:]))
    return header + rng.randbytes(words + min(4 * length, 1100)) + pixels
