"""JPEG: segments in another order or number, headers, tables and restart intervals of other values, EXIF and MPO."""

import random
import struct

from .exif import exif_block

_FRAMES = (0xC0, 0xC1, 0xC2, 0xC3, 0xC5, 0xC9, 0xCA)
_SIDES = (0, 1, 2, 7, 8, 9, 16, 17, 63, 255, 1000, 1224, 4096, 65_500, 65_535)


def segments(data: bytes) -> list[bytes]:
    """The segments up to the first scan, and all that follows as the last one."""
    found, at = [], 2
    while at + 4 <= len(data) and data[at] == 0xFF and data[at + 1] not in (0xDA, 0xD9, 0xFF, 0x00):
        end = at + 2 + int.from_bytes(data[at + 2 : at + 4], "big")
        found.append(data[at:end])
        at = end
    return [*found, data[at:]]


def segment(marker: int, body: bytes) -> bytes:
    """One segment; a body over its limit is cut."""
    body = body[:65_533]
    return bytes([0xFF, marker]) + struct.pack(">H", len(body) + 2) + body


def mutated(data: bytes, rng: random.Random) -> bytes:
    """One of many changes."""
    parts = segments(data)
    at = rng.randrange(len(parts))
    match rng.randrange(9):
        case 0:
            rng.shuffle(parts)
        case 1:
            parts.insert(rng.randrange(len(parts) + 1), parts[at])
        case 2:
            del parts[at]
        case 3:
            parts.insert(rng.randrange(len(parts)), segment(0xE1, exif_block(rng)))
        case 4:
            body = rng.choice(
                [b"Adobe\0\x64\0\0\0\0" + bytes([rng.randrange(4)]), b"ICC_PROFILE\0\x01\xff" + bytes(99)]
            )
            parts.insert(0, segment(0xEE if body[0] == 65 else 0xE2, body))
        case 5:
            parts.insert(rng.randrange(len(parts)), segment(0xDD, struct.pack(">H", rng.choice((0, 1, 2, 65_535)))))
        case 6:
            parts.insert(0, segment(0xE2, b"MPF\0" + exif_block(rng)[6:]))
        case 7:  # what comes after the first scan, once more or cut
            tail = parts[-1]
            parts[-1] = tail[: rng.randrange(len(tail) + 1)] + rng.choice([b"", b"\xff\xd9", tail, b"\xff\xd9" + data])
        case _:
            parts = [_other(part, rng) for part in parts]
    return data[:2] + b"".join(parts)


def _other(part: bytes, rng: random.Random) -> bytes:
    """A frame header or a table with another value; other segments as they are."""
    out = bytearray(part)
    if len(part) > 9 and part[1] in _FRAMES:
        match rng.randrange(5):
            case 0:
                out[1] = rng.choice(_FRAMES)
            case 1:
                out[5 + 2 * rng.randrange(2) :][:2] = b""
                struct.pack_into(">H", out, 5 + 2 * rng.randrange(2), rng.choice(_SIDES))
            case 2:
                out[4] = rng.choice((1, 8, 12, 16))
            case 3:
                out[9] = rng.choice((0, 1, 2, 3, 4, 5, 255))
            case 4:
                out[10 + rng.randrange(len(out) - 10)] = rng.choice((0, 0x11, 0x12, 0x21, 0x22, 0x41, 0x44, 0xFF))
    elif len(part) > 5 and part[1] in (0xC4, 0xDB) and rng.random() < 0.3:
        for _ in range(rng.randint(1, 4)):
            out[rng.randrange(4, len(out))] = rng.choice((0, 1, 16, 255))
    return bytes(out)
