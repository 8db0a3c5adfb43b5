"""Files made of boxes (AVIF, HEIC, JPEG 2000): sizes, order, number and depth of boxes, and the values in some."""

import random
import struct

_HOLDS = {b"meta": 4, b"iprp": 0, b"ipco": 0, b"jp2h": 0, b"moov": 0, b"trak": 0, b"iinf": 6}
_SIDES = (0, 1, 24, 257, 1224, 65_535, 2**31, 2**32 - 1)


def boxes(data: bytes) -> list[tuple[bytes, bytes]]:
    """Kinds and bodies of the boxes one after the other; what is left has the kind b""."""
    found, at = [], 0
    while at + 8 <= len(data) and len(found) < 200:
        size, kind = struct.unpack_from(">I4s", data, at)
        size = len(data) - at if size == 0 else size
        if size < 8 or at + size > len(data):
            break
        found.append((kind, data[at + 8 : at + size]))
        at += size
    return [*found, (b"", data[at:])] if at < len(data) else found


def joined(parts: list[tuple[bytes, bytes]]) -> bytes:
    """The boxes as bytes."""
    return b"".join(struct.pack(">I", 8 + len(body)) + kind + body if kind else body for kind, body in parts)


def mutated(data: bytes, rng: random.Random, depth: int = 0) -> bytes:
    """One box changed, at any depth."""
    parts = boxes(data)
    if not parts:
        return data
    at = rng.randrange(len(parts))
    kind, body = parts[at]
    if kind in _HOLDS and depth < 4 and rng.random() < 0.75:
        skip = _HOLDS[kind]
        parts[at] = kind, body[:skip] + mutated(body[skip:], rng, depth + 1)
        return joined(parts)
    match rng.randrange(7):
        case 0:
            del parts[at]
        case 1:
            parts.insert(at, parts[at])
        case 2:
            parts.insert(rng.randrange(len(parts)), parts.pop(at))
        case 3:
            says = rng.choice((0, 1, 7, 8, len(body) + 9, 2**31, 2**32 - 1))
            return joined(parts[:at]) + struct.pack(">I", says) + kind + body + joined(parts[at + 1 :])
        case 4:
            parts.insert(
                at,
                (
                    rng.choice((b"irot", b"imir", b"clap", b"ispe", b"pixi", b"free")),
                    rng.randbytes(rng.choice((1, 12, 32))),
                ),
            )
        case _:
            parts[at] = kind, _values(kind, body, rng)
    return joined(parts)


def _values(kind: bytes, body: bytes, rng: random.Random) -> bytes:
    out = bytearray(body)
    if kind in (b"ispe", b"ihdr") and len(out) >= 12:
        struct.pack_into(">I", out, rng.choice((0, 4, 8)), rng.choice(_SIDES))
        return bytes(out)
    for _ in range(rng.randint(1, 4)):
        if out:
            at = rng.randrange(min(len(out), 400))
            out[at] = rng.choice((0, 1, 2, 16, 0x4F, 0x7F, 0x80, 0xFE, 0xFF))
    return bytes(out)
