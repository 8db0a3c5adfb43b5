"""TIFF: directories written anew, with strips, tiles, predictors and compressions that may not fit, and circles."""

import random
import struct

from .exif import entry

_VALUES = {
    256: (1, 8, 30, 257, 1224, 70_000),
    257: (1, 8, 20, 130, 1224, 70_000),
    258: (1, 2, 4, 8, 12, 16, 32, 64),
    259: (1, 2, 3, 4, 5, 6, 7, 8, 32_773, 32_946, 34_661, 34_712, 34_925, 50_000, 50_001),
    262: (0, 1, 2, 3, 4, 5, 6, 8, 32_844),
    266: (1, 2),
    274: (0, 1, 3, 6, 8, 9),
    277: (0, 1, 2, 3, 4, 5, 255),
    278: (0, 1, 7, 20, 2**31, 2**32 - 1),
    284: (1, 2, 3),
    317: (1, 2, 3, 4),
    322: (0, 1, 8, 16, 256, 65_535, 2**31),
    323: (0, 1, 8, 16, 256, 65_535, 2**31),
    330: (8, 0, 2**31),
    338: (0, 1, 2, 3),
    339: (1, 2, 3, 4, 5),
    512: (1, 14),
    513: (8, 0, 200),
    530: (1, 2, 4),
}


def mutated(data: bytes, rng: random.Random) -> bytes:
    """A value of its directory changed, entries added or dropped; at times a directory of this module's own."""
    if rng.random() < 0.25:
        return made(rng)
    order = "<" if data[:2] == b"II" else ">"
    try:
        (start,) = struct.unpack_from(order + "I", data, 4)
        (count,) = struct.unpack_from(order + "H", data, start)
        entries = [bytearray(data[start + 2 + 12 * i : start + 14 + 12 * i]) for i in range(min(count, 60))]
    except struct.error:
        return made(rng)
    entries = [one for one in entries if len(one) == 12]
    for _ in range(rng.randint(1, 3)):
        if not entries:
            break
        at = rng.randrange(len(entries))
        match rng.randrange(5):
            case 0:
                del entries[at]
            case 1:
                entries.insert(at, bytearray(_entry(rng, order)))
            case 2:
                struct.pack_into(order + "I", entries[at], 4, rng.choice((0, 1, 2, 3, 1000, 2**20, 2**31)))
            case 3:
                struct.pack_into(order + "H", entries[at], 2, rng.randrange(19))
            case _:
                (tag,) = struct.unpack_from(order + "H", entries[at])
                value = rng.choice(_VALUES.get(tag, (0, 1, 8, len(data), 2**32 - 1)))
                entries[at] = bytearray(entry(order, tag, rng.choice((3, 4)), 1, value))
    after = struct.pack(order + "I", rng.choice((0, 0, len(data), start, 8, 2**31)))
    directory = struct.pack(order + "H", len(entries)) + b"".join(entries) + after
    return data[:4] + struct.pack(order + "I", len(data)) + data[8:] + directory


def made(rng: random.Random) -> bytes:
    """A TIFF of a random directory, mostly one that makes sense, with its pixels behind it."""
    order = rng.choice("<>")
    chosen = {256: rng.choice((8, 30, 257)), 257: rng.choice((8, 20, 130)), 258: 8, 259: 1, 262: 2, 277: 3, 278: 10**4}
    for tag in rng.sample(sorted(_VALUES), rng.randrange(5)):
        chosen[tag] = rng.choice(_VALUES[tag])
    many = rng.choice((1, 1, 2, 50))
    if rng.random() < 0.3:
        chosen |= {322: rng.choice(_VALUES[322]), 323: rng.choice(_VALUES[323])}
    offsets, counts = (324, 325) if 322 in chosen else (273, 279)
    big = rng.random() < 0.15
    size = len(chosen) + 2
    pixels = rng.randbytes(64) * rng.choice((1, 40, 300))
    at = (16 + 8 + 20 * size + 8) if big else (8 + 2 + 12 * size + 4)
    chosen |= {offsets: rng.choice((at, at, at, 0, 8, 2**31)), counts: rng.choice((len(pixels), len(pixels), 0, 2**31))}
    mark = b"II" if order == "<" else b"MM"
    if big:
        rows = [struct.pack(order + "HHQQ", tag, 16, 1, value) for tag, value in sorted(chosen.items())]
        head = mark + struct.pack(order + "HHHQ", 43, 8, 0, 16) + struct.pack(order + "Q", len(rows))
        return head + b"".join(rows) + struct.pack(order + "Q", rng.choice((0, 16))) + pixels
    rows = [entry(order, tag, 4, many if tag in (offsets, counts) else 1, v) for tag, v in sorted(chosen.items())]
    head = mark + struct.pack(order + "HI", 42, 8) + struct.pack(order + "H", len(rows))
    return head + b"".join(rows) + struct.pack(order + "I", rng.choice((0, 8))) + pixels


def _entry(rng: random.Random, order: str) -> bytes:
    tag = rng.choice(sorted(_VALUES))
    return entry(order, tag, rng.choice((1, 2, 3, 4, 5, 12)), rng.choice((1, 1, 2, 2**30)), rng.choice(_VALUES[tag]))
