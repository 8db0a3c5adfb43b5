"""GIF: frames beyond the screen, code sizes, palettes and extensions of any kind."""

import random
import struct


def mutated(data: bytes, rng: random.Random) -> bytes:
    """A screen, a palette, some extensions and frames; or those of the file with one value changed."""
    if rng.random() < 0.5:
        return _changed(data, rng)
    width, height = rng.choice((1, 24, 257, 1224, 65_535)), rng.choice((1, 16, 130, 1224, 65_535))
    flags = rng.choice((0x80, 0x87, 0xF0, 0, 7))
    palette = rng.randbytes(3 << ((flags & 7) + 1)) if flags & 0x80 else b""
    screen = rng.choice((b"GIF89a", b"GIF87a")) + struct.pack("<HHBBB", width, height, flags, rng.randrange(256), 0)
    return screen + palette + b"".join(_block(rng, width, height) for _ in range(rng.choice((1, 2, 5, 40)))) + b";"


def _block(rng: random.Random, width: int, height: int) -> bytes:
    match rng.randrange(4):
        case 0:
            return b"!\xf9\x04" + bytes([rng.randrange(32), 1, 0, rng.randrange(256)]) + b"\0"
        case 1:
            return b"!" + bytes([rng.choice((0xFE, 0xFF, 0x01, 0))]) + _pieces(rng.randbytes(rng.choice((0, 11, 600))))
        case _:
            at = [rng.choice((0, 0, 0, 1, 65_535)) for _ in range(2)]
            size = [rng.choice((one, one, one + 1, 1, 0, 65_535)) & 0xFFFF for one in (width, height)]
            flags = rng.choice((0, 0, 0x40, 0x80, 0xC7))
            local = rng.randbytes(3 << ((flags & 7) + 1)) if flags & 0x80 else b""
            packed = rng.choice((rng.randbytes(300), bytes(50), b"\x84" * 400, b""))
            code = bytes([rng.choice((1, 2, 4, 8, 8, 11, 12, 13, 255))])
            return b"," + struct.pack("<HHHHB", *at, *size, flags) + local + code + _pieces(packed)


def _pieces(data: bytes) -> bytes:
    return b"".join(bytes([len(data[i : i + 255])]) + data[i : i + 255] for i in range(0, len(data), 255)) + b"\0"


def _changed(data: bytes, rng: random.Random) -> bytes:
    out = bytearray(data)
    if len(out) > 13:
        for _ in range(rng.randint(1, 3)):
            at = rng.choice((6, 7, 8, 9, 10, 11, 12, rng.randrange(6, len(out))))
            out[at] = rng.choice((0, 1, 2, 0x2C, 0x21, 0x3B, 0x80, 0xFF))
    return bytes(out)
