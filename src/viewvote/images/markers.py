"""What an encoded image says of itself, read from its bytes in C speed, before a decoder sees them."""

import re
import struct
from collections.abc import Iterator

from ..errors import UnreadableImageError
from .failures import shown

MOST_SEGMENTS = 10_000
"""Segments of a JPEG or chunks other than pixels of a PNG: a file of millions of empty ones would cost a minute."""

_NEXT_MARKER = re.compile(rb"\xff[^\x00\xd0-\xd7\xff]")  # in entropy-coded data: FF00 is a byte, FFD0 to FFD7 restarts
_START_OF_SCAN = b"\xff\xda"
_ALONE = frozenset([0x00, 0x01, *range(0xD0, 0xD9)])  # markers without a length
_SEQUENTIAL = frozenset([0xC0, 0xC1, 0xC9])
_PIXELS = frozenset([b"IDAT", b"fdAT"])
_TELLS_TURN = frozenset([b"eXIf", b"tEXt", b"zTXt", b"iTXt"])


def count_scans(data: bytes, name: str, *, most: int) -> int:
    """How many scans a JPEG has, counted no further than one more than `most`; where it is damaged, at most so many."""
    at, scans, components = 2, 0, 0
    for _ in range(MOST_SEGMENTS):
        at = data.find(b"\xff", at)
        if at < 0 or at + 4 > len(data):
            return max(scans, data.count(_START_OF_SCAN))
        marker = data[at + 1]
        if marker == 0xFF:
            at += 1
        elif marker in _ALONE:
            at += 2
        elif marker == 0xD9:
            return scans
        else:
            after = at + 2 + int.from_bytes(data[at + 2 : at + 4], "big")
            if marker in _SEQUENTIAL:
                components = int.from_bytes(data[at + 9 : at + 10]) if after <= len(data) else 0
            if marker == 0xDA:
                scans += 1
                if data[at + 4 : at + 5] == bytes([components]):  # all of them at once: there is nothing left to scan
                    return scans
                if scans > most or data.find(_START_OF_SCAN, after) < 0:
                    return scans
                found = _NEXT_MARKER.search(data, after)
                if found is None:
                    return data.count(_START_OF_SCAN)
                after = found.start()
            at = after
    raise UnreadableImageError(f"cannot decode {shown(name)}: it has more than {MOST_SEGMENTS:,} segments.")


def png_is_said_to_be_turned(data: bytes, name: str) -> bool:
    """Whether a PNG has a chunk in which an orientation may stand; most have none."""
    return any(kind in _TELLS_TURN for kind, _, _ in _png_chunks(data, name))


def png_without_pixels(data: bytes, name: str) -> bytes:
    """A PNG with its header and what may tell an orientation, also what comes after the pixels.

    Asked for an orientation that is not there, Pillow would decode all pixels, to look behind them.
    """
    chunks = [(start, end) for kind, start, end in _png_chunks(data, name) if kind in _TELLS_TURN or kind == b"IHDR"]
    return b"".join([data[:8], *(data[start:end] for start, end in chunks), _EMPTY_IDAT])


_EMPTY_IDAT = bytes.fromhex("00000000 49444154 35af061e")


def _png_chunks(data: bytes, name: str) -> Iterator[tuple[bytes, int, int]]:
    """Kind, start and end of every whole chunk."""
    at, other = 8, 0
    while at + 12 <= len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        end = at + 12 + length
        if end > len(data) or kind == b"IEND":
            return
        other += kind not in _PIXELS
        if other > MOST_SEGMENTS:
            raise UnreadableImageError(f"cannot decode {shown(name)}: it has more than {MOST_SEGMENTS:,} chunks.")
        yield kind, at, end
        at = end


def webp_canvas(data: bytes) -> tuple[int, int] | None:
    """The size of a WebP, for which Pillow takes memory as soon as it opens one; None where the header is damaged."""
    kind = data[12:16]
    if kind == b"VP8X" and len(data) >= 30:
        return 1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")
    if kind == b"VP8L" and len(data) >= 25:
        bits = int.from_bytes(data[21:25], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8 " and len(data) >= 30:
        width, height = struct.unpack_from("<HH", data, 26)
        return width & 0x3FFF, height & 0x3FFF
    return None
