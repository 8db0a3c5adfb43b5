"""WebP: canvases and frames of sizes that do not fit, animations, transparency and metadata of their own."""

import random
import struct

from .exif import exif_block

_SIDES = (1, 2, 24, 257, 1224, 16_383, 16_384, 2**24)


def chunk(kind: bytes, body: bytes, *, says: int | None = None) -> bytes:
    """A chunk, which may say another length than it has."""
    return kind + struct.pack("<I", len(body) if says is None else says) + body + b"\0" * (len(body) % 2)


def chunks(data: bytes) -> list[tuple[bytes, bytes]]:
    """Kinds and bodies."""
    found, at = [], 12
    while at + 8 <= len(data) and len(found) < 200:
        (length,) = struct.unpack_from("<I", data, at + 4)
        found.append((data[at : at + 4], data[at + 8 : at + 8 + length]))
        at += 8 + (length + 1 & ~1)
    return found


def _u24(value: int) -> bytes:
    return (value & 0xFFFFFF).to_bytes(3, "little")


def mutated(data: bytes, rng: random.Random) -> bytes:
    """One of many changes, in a file whose size is right, mostly."""
    parts = chunks(data) or [(b"VP8 ", b"")]
    pixels = next(((kind, body) for kind, body in parts if kind in (b"VP8 ", b"VP8L")), (b"VP8 ", b""))
    at = rng.randrange(len(parts))
    says: int | None = None
    match rng.randrange(8):
        case 0:
            parts.insert(rng.randrange(len(parts)), parts.pop(at))
        case 1:
            parts.insert(at, parts[at])
        case 2:
            parts = [(b"VP8X", _canvas(rng)), *(part for part in parts if part[0] != b"VP8X")]
        case 3:
            frames = [(b"ANMF", _frame(pixels, rng))] * rng.choice((1, 2, 300))
            parts = [(b"VP8X", _canvas(rng, flags=2)), (b"ANIM", rng.randbytes(4) + b"\0\0"), *frames]
        case 4:
            alpha = (b"ALPH", bytes([rng.randrange(256)]) + rng.randbytes(rng.choice((0, 4, 400))))
            parts = [(b"VP8X", _canvas(rng, flags=16)), alpha, pixels]
        case 5:
            parts.append((b"EXIF", exif_block(rng, start=rng.choice((b"", b"Exif\0\0")))))
            parts.insert(0, (b"VP8X", _canvas(rng, flags=8)))
        case 6:
            kind, body = parts[at]
            out = bytearray(body)
            for _ in range(min(len(out), rng.randint(1, 4))):
                out[rng.randrange(min(len(out), 24))] = rng.choice((0, 1, 0x2F, 0x7F, 0x80, 0xFF))
            parts[at] = kind, bytes(out)
        case _:
            says = rng.choice((0, 1, 2**32 - 10, len(parts[at][1]) + 2))
    body = b"".join(chunk(kind, part, says=says if i == at else None) for i, (kind, part) in enumerate(parts))
    return (
        b"RIFF"
        + struct.pack("<I", len(body) + 4 + (rng.choice((-3, 2, 10**6)) if rng.random() < 0.05 else 0))
        + b"WEBP"
        + body
    )


def _canvas(rng: random.Random, *, flags: int = 0) -> bytes:
    flags = flags if rng.random() < 0.8 else rng.randrange(256)
    return bytes([flags, 0, 0, 0]) + _u24(rng.choice(_SIDES) - 1) + _u24(rng.choice(_SIDES) - 1)


def _frame(pixels: tuple[bytes, bytes], rng: random.Random) -> bytes:
    place = _u24(rng.choice((0, 0, 1, 10**6))) + _u24(rng.choice((0, 0, 1, 10**6)))
    return place + _u24(rng.choice(_SIDES) - 1) + _u24(rng.choice(_SIDES) - 1) + _u24(9) + b"\0" + chunk(*pixels)
