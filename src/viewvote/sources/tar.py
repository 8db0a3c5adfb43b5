"""The members of a tar archive, read in sequence and never unpacked: names are text here, not places on a disk."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from ..errors import DatasetError

BLOCK = 512
NAME_BYTES = 64 * 1024
"""The longest header of a long name; a damaged or hostile one claims gigabytes."""

LARGEST = 2**60
"""Bytes of a member: more than any disk has, and few enough for every system's numbers."""

_OCTAL = re.compile(rb"[0-7]+")
_DIGITS = 20
_FILES = (b"0", b"\0", b"7")
_WITHOUT_DATA = (b"1", b"2", b"3", b"4", b"5", b"6")  # links, devices, folders, pipes
_LONG_NAME, _LONG_LINK, _PAX, _PAX_ALL = b"L", b"K", b"x", b"g"
_SKIP = 1 << 20


@dataclass(frozen=True)
class Member:
    """A member's name and size; `is_file` is False for links, folders, devices and sparse files."""

    name: str
    size: int
    is_file: bool


class TarReader:
    """Goes through an archive once; `members` yields each header, and `read` gives that member's bytes.

    What the headers claim is not believed: nothing larger than `NAME_BYTES` is read on their word.
    """

    def __init__(self, stream: BinaryIO, *, name: str) -> None:
        self._stream = stream
        self._name = name
        self._left = 0  # bytes of the member not read yet
        self._padding = 0
        self._position = 0

    def members(self) -> Iterator[Member]:
        """The members in order; raises DatasetError where the archive is damaged."""
        long_name = pax_size = None
        while True:
            self._skip(self._left + self._padding)
            self._left = self._padding = 0
            header = self._exactly(BLOCK, may_end=True)
            if not header:
                raise self._damaged("it ends without a mark of its end")
            if not header.strip(b"\0"):
                return
            self._check_sum(header)
            kind, size = header[156:157], self._number(header[124:136])
            if kind in (_LONG_NAME, _LONG_LINK, _PAX, _PAX_ALL):
                text = self._text(size)
                if kind == _LONG_NAME:
                    long_name = _decoded(text.rstrip(b"\0"))
                elif kind == _PAX:
                    values = self._pax(text)
                    long_name = _decoded(values["path"]) if "path" in values else long_name
                    pax_size = self._pax_size(values.get("size", b""))
                continue
            size = size if pax_size is None else pax_size
            self._left, self._padding = (0, 0) if kind in _WITHOUT_DATA else (size, -size % BLOCK)
            yield Member(long_name or _plain_name(header), size, is_file=kind in _FILES)
            long_name = pax_size = None

    def read(self, limit: int) -> bytes:
        """The bytes of the member at hand, at most `limit` of them."""
        wanted = min(self._left, limit)
        data = self._exactly(wanted)
        self._left -= wanted
        return data

    def _exactly(self, size: int, *, may_end: bool = False) -> bytes:
        pieces, missing = [], size
        while missing and (piece := self._stream.read(missing)):
            pieces.append(piece)
            missing -= len(piece)
        self._position += size - missing
        if missing and not (may_end and missing == size):
            raise self._damaged("it ends in the middle of a member")
        return b"".join(pieces)

    def _skip(self, size: int) -> None:
        while size:
            step = min(size, _SKIP)
            if self._stream.seekable() and size > _SKIP:  # the last bytes are read: a cut-off archive must show
                self._stream.seek(size - _SKIP, 1)
                self._position += size - _SKIP
                size = step = _SKIP
            self._exactly(step)
            size -= step

    def _text(self, size: int) -> bytes:
        if size > NAME_BYTES:
            raise self._damaged(f"a name of {size:,} bytes")
        text = self._exactly(size)
        self._exactly(-size % BLOCK)
        return text

    def _number(self, field: bytes) -> int:
        """An octal number, or since larger files a binary one that starts with 0x80."""
        digits = field.strip(b" \0") or b"0"
        if field[0] == 0x80:
            number = int.from_bytes(field[1:], "big")
        elif _OCTAL.fullmatch(digits):
            number = int(digits, 8)
        else:
            raise self._damaged("a header with a size that is no number")
        if number > LARGEST:
            raise self._damaged("a header with a size that no file has")
        return number

    def _pax_size(self, text: bytes) -> int | None:
        if not text.isdigit():
            return None
        if len(text) > _DIGITS or int(text) > LARGEST:
            raise self._damaged("an extended header with a size that no file has")
        return int(text)

    def _check_sum(self, header: bytes) -> None:
        if self._number(header[148:156]) != sum(header[:148]) + sum(header[156:]) + 8 * ord(" "):
            raise self._damaged("a header whose checksum is wrong")

    def _pax(self, text: bytes) -> dict[str, bytes]:
        """The records "LENGTH key=value" of an extended header."""
        values = {}
        while text.strip(b"\0"):
            length, _, _ = text.partition(b" ")
            if not length.isdigit() or len(length) > _DIGITS or not len(length) < int(length) <= len(text):
                raise self._damaged("an extended header that cannot be read")
            key, _, value = text[len(length) + 1 : int(length) - 1].partition(b"=")
            values[_decoded(key)] = value
            text = text[int(length) :]
        return values

    def _damaged(self, what: str) -> DatasetError:
        return DatasetError(f"{self._name} is damaged at byte {self._position:,}: {what}. What follows is not read.")


def _plain_name(header: bytes) -> str:
    name, prefix = header[:100].split(b"\0")[0], header[345:500].split(b"\0")[0]
    in_ustar = header[257:263] == b"ustar\0"  # GNU's own form has other things there
    return _decoded(prefix + b"/" + name if prefix and in_ustar else name)


def _decoded(name: bytes) -> str:
    return name.decode("utf-8", "surrogateescape")
