"""EXIF blocks, which are small TIFFs: orientations of any kind and number, directories in circles, values far away."""

import random
import struct

_TYPES = (1, 2, 3, 4, 5, 7, 9, 10, 11, 12, 13, 16, 0, 99)
_TAGS = (0x0112, 0x8769, 0x8825, 0x014A, 0x0100, 0x0101, 0x0111, 0x0201, 0x0202, 0xB001, 0xB002, 0xA005, 0x927C)


def entry(order: str, tag: int, kind: int, count: int, value: int) -> bytes:
    """One entry of a directory."""
    if kind == 3 and count == 1:
        return struct.pack(order + "HHIHH", tag, kind, count, value & 0xFFFF, 0)
    return struct.pack(order + "HHII", tag, kind, count & 0xFFFFFFFF, value & 0xFFFFFFFF)


def exif_block(rng: random.Random, *, start: bytes = b"Exif\0\0") -> bytes:
    """A block with one to thirty entries, and a next directory somewhere."""
    order = rng.choice("<>")
    entries = [
        entry(
            order,
            rng.choice(_TAGS),
            rng.choice(_TYPES),
            rng.choice((0, 1, 2, 4, 1000, 2**31)),
            rng.choice((0, 1, 3, 6, 8, 9, 26, 65_535, 2**32 - 1)),
        )
        for _ in range(rng.choice((1, 2, 5, 30)))
    ]
    if rng.random() < 0.6:
        entries.insert(rng.randrange(len(entries) + 1), entry(order, 0x0112, 3, 1, rng.randrange(10)))
    after = struct.pack(order + "I", rng.choice((0, 8, 9, 2**31)))
    head = (b"II" if order == "<" else b"MM") + struct.pack(order + "HI", rng.choice((42, 42, 42, 43)), 8)
    return start + head + struct.pack(order + "H", len(entries)) + b"".join(entries) + after + rng.randbytes(16)
