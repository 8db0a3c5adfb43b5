"""Forms (multipart/form-data), kept in memory: their size is bounded before, and a file system may be read-only."""

from collections.abc import AsyncIterable
from dataclasses import dataclass, field
from typing import Final

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from ..errors import UsageError

BOUNDARY_BYTES: Final = 256


@dataclass
class Part:
    """One part of a form; those without a file name are fields."""

    name: str = ""
    file_name: str | None = None
    data: bytearray = field(default_factory=bytearray)

    def text(self) -> str:
        """A field's value."""
        try:
            return self.data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise UsageError(f"form field {self.name[:100]!r} is not UTF-8 text: {error}.") from error


class FormReader:
    """Takes a form's bytes as they come; `parts` are those that are complete."""

    def __init__(self, content_type: str, *, max_parts: int) -> None:
        self.parts: list[Part] = []
        self.ended = False
        self._max_parts = max_parts
        self._part = Part()
        self._header: tuple[bytearray, bytearray] = (bytearray(), bytearray())
        boundary = parse_options_header(content_type)[1].get(b"boundary", b"")
        if not 0 < len(boundary) <= BOUNDARY_BYTES:
            raise UsageError("the form cannot be read: its content type names no boundary.")
        self._parser = MultipartParser(
            boundary,
            {
                "on_part_begin": self._start,
                "on_header_field": lambda data, start, end: self._header[0].extend(data[start:end]),
                "on_header_value": lambda data, start, end: self._header[1].extend(data[start:end]),
                "on_header_end": self._end_header,
                "on_part_data": lambda data, start, end: self._part.data.extend(data[start:end]),
                "on_part_end": lambda: self.parts.append(self._part),
                "on_end": self._end,
            },
        )

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes."""
        try:
            self._parser.write(chunk)
        except FormParserError as error:
            raise UsageError(f"the form cannot be read: {error}.") from error

    def _start(self) -> None:
        if len(self.parts) >= self._max_parts:
            raise UsageError(f"the form has more than {self._max_parts} parts, which is the limit.")
        self._part = Part()

    def _end_header(self) -> None:
        name, value = (bytes(part) for part in self._header)
        self._header = (bytearray(), bytearray())
        if name.lower() == b"content-disposition":
            options = parse_options_header(value)[1]
            self._part.name = options.get(b"name", b"").decode("utf-8", "replace")
            if b"filename" in options:
                self._part.file_name = options[b"filename"].decode("utf-8", "replace")

    def _end(self) -> None:
        self.ended = True


async def read_form(content_type: str, stream: AsyncIterable[bytes], *, max_parts: int) -> list[Part]:
    """The parts of a form; one that ends in the middle is an error."""
    reader = FormReader(content_type, max_parts=max_parts)
    async for chunk in stream:
        reader.feed(chunk)
    if not reader.ended:
        raise UsageError("the form cannot be read: it ends in the middle.")
    return reader.parts
