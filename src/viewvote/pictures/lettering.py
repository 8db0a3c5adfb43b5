"""Text in any script: each part in the first font that has its characters."""

import os
import struct
import sys
from bisect import bisect_right
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import chain, groupby
from pathlib import Path

from PIL import ImageDraw, ImageFont

from .drawing import SCALE, Font

PLAIN = ""
"""Stands for Pillow's own font, which has the letters of English."""

_FOLDER = Path(__file__).with_name("fonts")
_WIDE = str(_FOLDER / "DejaVuSans.ttf")
SHIPPED = (_WIDE, str(_FOLDER / "DroidSansFallback.ttf"))
"""For Latin, Greek, Cyrillic, Hebrew and Arabic, and for Chinese, Japanese and Korean."""

ELLIPSIS = "..."
_ENDINGS = (".ttf", ".otf", ".ttc")
_SPECIAL = ("bold", "italic", "oblique", "mono", "light", "thin", "black", "condensed", "serif")
_BASELINE = 0.9
"""How far below the top of a line its letters stand, in sizes: the same for all fonts."""


def write(
    draw: ImageDraw.ImageDraw,
    place: tuple[float, float],
    text: str,
    *,
    size: int,
    fill: str,
    width: float | None = None,
) -> None:
    """Write the text with its line's top left at `place`, cut with an ellipsis where it is wider than `width`."""
    x, y = place
    shown = text if width is None else fit(text, width, size=size)
    for part, source in _runs(shown):
        font = _sized(source, size)
        draw.text((x, y + _BASELINE * size * SCALE), part, fill=fill, font=font, anchor="ls")
        x += font.getlength(part)


def length(text: str, *, size: int) -> float:
    """How wide the text is in pixels."""
    return sum(_sized(source, size).getlength(part) for part, source in _runs(text))


@lru_cache(maxsize=1000)  # the same labels stand below many views
def fit(text: str, width: float, *, size: int) -> str:
    """The text, cut with an ellipsis where it is wider than `width`."""
    if len(text) <= width and length(text, size=size) <= width:
        return text
    most = min(len(text), int(width))  # no letter is narrower than a pixel
    kept = bisect_right(range(1, most + 1), width, key=lambda n: length(text[:n] + ELLIPSIS, size=size))
    return text[:kept] + ELLIPSIS


def _runs(text: str) -> Iterator[tuple[str, str]]:
    """The text in parts that one font can write; a character that none has is written as its number."""
    written = "".join(_writable(character) for character in text)
    plain = all(ord(character) in _covered(PLAIN) for character in written)
    before = PLAIN if plain else _WIDE  # one letter with an accent should not be in another font than its word
    fonts = []
    for character in written:
        before = before if ord(character) in _covered(before) else _font_of(character)
        fonts.append(before)
    for source, part in groupby(zip(fonts, written, strict=True), key=lambda pair: pair[0]):
        yield "".join(character for _, character in part), source


@cache
def _writable(character: str) -> str:
    """The character, a space for one that moves the pen, or its number in brackets where no font has it."""
    if not character.isprintable():
        return " " if character.isspace() or ord(character) < 32 else ""
    return character if ord(character) in _covered(_font_of(character)) else f"[U+{ord(character):04X}]"


@cache
def _font_of(character: str) -> str:
    """The first font that has the character: those that are shipped, then those of the system."""
    sources = chain((PLAIN, *SHIPPED), _system_fonts())
    return next((source for source in sources if ord(character) in _covered(source)), PLAIN)


def _system_fonts() -> Iterator[str]:
    """The fonts that are installed; looked for only where those that are shipped lack a character."""
    yield from _installed()


@cache
def _installed() -> tuple[str, ...]:
    """The fonts that are installed, upright ones of usual weight first."""
    home = Path.home()
    if sys.platform == "win32":
        folders = [Path(os.environ.get("WINDIR", r"C:\Windows")) / "Fonts"]
    elif sys.platform == "darwin":
        folders = [Path("/System/Library/Fonts"), Path("/Library/Fonts"), home / "Library" / "Fonts"]
    else:
        data = os.environ.get("XDG_DATA_DIRS") or "/usr/local/share:/usr/share"
        folders = [Path(folder) / "fonts" for folder in data.split(":") if folder]
        folders += [home / ".local" / "share" / "fonts", home / ".fonts"]
    found = [path for folder in folders for path in folder.rglob("*") if path.suffix.lower() in _ENDINGS]
    return tuple(map(str, sorted(found, key=lambda path: (_is_special(path.name), path.name))))


def _is_special(name: str) -> bool:
    return any(word in name.lower() for word in _SPECIAL)


@cache
def _sized(source: str, size: int) -> Font:
    return ImageFont.load_default(size * SCALE) if source == PLAIN else ImageFont.truetype(source, size * SCALE)


@cache
def _covered(source: str) -> frozenset[int]:
    """The characters that a font has; none for one that cannot be used."""
    try:
        font = _sized(source, 11)
        if not isinstance(font, ImageFont.FreeTypeFont):
            return frozenset(range(32, 127))
        held = font.path
        return frozenset(characters(Path(held).read_bytes() if isinstance(held, str) else held.getvalue()))  # type: ignore[union-attr]
    except (OSError, struct.error, IndexError):
        return frozenset()


def characters(data: bytes) -> set[int]:
    """The characters in the tables "cmap" of a TrueType or OpenType font, or of the first in a collection."""
    start = struct.unpack_from(">I", data, 12)[0] if data[:4] == b"ttcf" else 0
    tables = struct.unpack_from(">H", data, start + 4)[0]
    for i in range(tables):
        tag, _, at, _ = struct.unpack_from(">4sIII", data, start + 12 + 16 * i)
        if tag == b"cmap":
            return _of_cmap(data, at)
    return set()


def _of_cmap(data: bytes, at: int) -> set[int]:
    found: set[int] = set()
    for i in range(struct.unpack_from(">H", data, at + 2)[0]):
        platform, encoding, offset = struct.unpack_from(">HHI", data, at + 4 + 8 * i)
        if platform == 0 or (platform, encoding) in ((3, 1), (3, 10)):  # Unicode
            form = struct.unpack_from(">H", data, at + offset)[0]
            if form == 4:
                found |= _segments(data, at + offset)
            elif form == 12:
                found |= _groups(data, at + offset)
    return found


def _segments(data: bytes, at: int) -> set[int]:
    """Format 4: the plane of the usual scripts; a character whose glyph is 0 is missing."""
    count = struct.unpack_from(">H", data, at + 6)[0] // 2
    column = f">{count}H"
    ends = struct.unpack_from(column, data, at + 14)
    starts = struct.unpack_from(column, data, at + 16 + 2 * count)
    deltas = struct.unpack_from(column, data, at + 16 + 4 * count)
    offsets_at = at + 16 + 6 * count
    offsets = struct.unpack_from(column, data, offsets_at)
    found: set[int] = set()
    for i, (start, end, delta, offset) in enumerate(zip(starts, ends, deltas, offsets, strict=True)):
        for code in range(start, min(end, 0xFFFE) + 1):
            glyph = code + delta
            if offset:
                glyph = struct.unpack_from(">H", data, offsets_at + 2 * i + offset + 2 * (code - start))[0]
            if glyph & 0xFFFF:
                found.add(code)
    return found


def _groups(data: bytes, at: int) -> set[int]:
    """Format 12: every plane."""
    found: set[int] = set()
    for i in range(struct.unpack_from(">I", data, at + 12)[0]):
        start, end, glyph = struct.unpack_from(">III", data, at + 16 + 12 * i)
        found.update(range(start + (glyph == 0), min(end, 0x10FFFF) + 1))
    return found
