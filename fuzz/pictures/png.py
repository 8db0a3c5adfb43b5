"""PNG: chunks in another order or number, frames of APNG, profiles and texts that unpack to much; checksums fit."""

import random
import struct
import zlib

from .exif import exif_block

_KINDS = (b"tRNS", b"PLTE", b"gAMA", b"cHRM", b"sBIT", b"pHYs", b"bKGD", b"sRGB", b"tIME", b"IDAT", b"IEND", b"IHDR")


def chunk(kind: bytes, body: bytes) -> bytes:
    """A chunk with its checksum."""
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def chunks(data: bytes) -> list[tuple[bytes, bytes]]:
    """Kinds and bodies."""
    found, at = [], 8
    while at + 12 <= len(data) and len(found) < 500:
        (length,) = struct.unpack_from(">I", data, at)
        found.append((data[at + 4 : at + 8], data[at + 8 : at + 8 + length]))
        at += 12 + length
    return found


def mutated(data: bytes, rng: random.Random) -> bytes:
    """One of many changes; checksums are right, mostly."""
    parts = chunks(data)
    if not parts:
        return data
    at, to = rng.randrange(len(parts)), rng.randrange(len(parts) + 1)
    match rng.randrange(10):
        case 0:
            parts.insert(rng.randrange(len(parts)), parts.pop(at))
        case 1:
            parts.insert(to, parts[at])
        case 2:
            del parts[at]
        case 3:
            parts.insert(to, (rng.choice(_KINDS), rng.randbytes(rng.choice((0, 1, 2, 3, 6, 7, 13, 256, 769)))))
        case 4:
            parts.insert(to, (b"eXIf", exif_block(rng, start=rng.choice([b"", b"Exif\0\0"]))))
        case 5:
            parts.insert(to, _packed(rng))
        case 6:
            parts[0] = (b"IHDR", _header(parts[0][1], rng))
        case 7:
            parts = _as_frames(parts, rng)
        case 8:
            parts = _other_pixels(parts, rng)
        case _:
            parts = [piece for kind, body in parts for piece in _cut(kind, body, rng)]
    out = data[:8] + b"".join(chunk(kind, body) for kind, body in parts)
    return out if rng.random() < 0.97 else out[:-20] + rng.randbytes(20)


def _header(body: bytes, rng: random.Random) -> bytes:
    """Another side, depth, colour type or interlacing."""
    out = bytearray(body.ljust(13, b"\0")[:13])
    if rng.random() < 0.4:
        struct.pack_into(">I", out, 4 * rng.randrange(2), rng.choice((0, 1, 3, 8, 9, 257, 1224, 70_000, 2**31 - 1)))
    else:
        out[8 + rng.randrange(5)] = rng.choice((0, 1, 2, 3, 4, 6, 8, 16))
    return bytes(out)


def _packed(rng: random.Random) -> tuple[bytes, bytes]:
    """Something compressed that unpacks to much more, or to less than it says."""
    body = zlib.compress(bytes(rng.choice((0, 100, 100_000, 8_000_000))), 9)[: rng.choice((8, 10**9, 10**9))]
    kind = rng.choice((b"iCCP", b"zTXt", b"iTXt", b"tEXt"))
    middle = {b"iTXt": b"\0\1\0\0\0", b"tEXt": b"\0"}.get(kind, b"\0" + bytes([rng.choice((0, 0, 0, 9))]))
    word = rng.choice((b"a", b"Raw profile type exif", b"XML:com.adobe.xmp", b"", b"x" * 90))
    return kind, word + middle + (rng.randbytes(30) if kind == b"tEXt" else body)


def _as_frames(parts: list[tuple[bytes, bytes]], rng: random.Random) -> list[tuple[bytes, bytes]]:
    """The pixels as the frames of an animation of a stated number, with sizes and offsets that may not fit."""
    size = struct.unpack(">II", parts[0][1][:8].ljust(8, b"\0"))
    out = []
    for i, (kind, body) in enumerate(parts):
        if kind == b"IDAT" and not any(k == b"acTL" for k, _ in out):
            frames = rng.choice((0, 1, 2, 1000, 2**31 - 1))
            out.append((b"acTL", struct.pack(">II", frames, rng.randrange(3))))
            sides = [rng.choice((one, one, (one + 1) % 2**32, 0, 1, 2**31 - 1)) for one in size]
            at = [rng.choice((0, 0, 1, 2**31 - 1)) for _ in range(2)]
            out.append((b"fcTL", struct.pack(">IIIIIHHBB", rng.choice((0, 0, i, 9)), *sides, *at, 1, 0, 3, 2)))
        out.append((kind, body))
        if kind == b"IDAT" and rng.random() < 0.5:
            out.append((b"fdAT", struct.pack(">I", rng.randrange(4)) + body))
    return out


def _other_pixels(parts: list[tuple[bytes, bytes]], rng: random.Random) -> list[tuple[bytes, bytes]]:
    """The unpacked pixels with other filters, too short or too long, packed anew."""
    try:
        pixels = bytearray(zlib.decompress(b"".join(body for kind, body in parts if kind == b"IDAT")))
    except zlib.error:
        return parts
    match rng.randrange(3):
        case 0 if pixels:
            for _ in range(rng.randint(1, 9)):
                pixels[rng.randrange(len(pixels))] = rng.randrange(7)
        case 1:
            pixels = pixels[: rng.randrange(len(pixels) + 1)]
        case _:
            pixels += bytes(rng.choice((1, 1000, 3_000_000)))
    first = next(i for i, (kind, _) in enumerate(parts) if kind == b"IDAT")
    rest = [part for part in parts if part[0] != b"IDAT"]
    return [*rest[:first], (b"IDAT", zlib.compress(bytes(pixels), rng.choice((0, 1, 9)))), *rest[first:]]


def _cut(kind: bytes, body: bytes, rng: random.Random) -> list[tuple[bytes, bytes]]:
    """The pixels in several chunks, with others in between."""
    if kind != b"IDAT" or len(body) < 4:
        return [(kind, body)]
    at = rng.randrange(1, len(body))
    between = [(rng.choice((b"IDAT", b"tEXt", b"zzZz", b"IDAX")), b"")] * rng.choice((0, 1, 3))
    return [(kind, body[:at]), *between, (kind, body[at:])]
