"""Objects of a store: read whole within a limit, or from any place as a file; a failed request is sent again."""

import io
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, BinaryIO, TypeVar

from ..reading import open_regular
from .address import file_system, is_address
from .patience import persist

BLOCK = 4_000_000
"""Bytes of a large object that are asked for at once, while those before are worked on."""

Buffer = TypeVar("Buffer", bytearray, memoryview)


def read_object(address: str, *, limit: int) -> bytes:
    """The bytes of an object, of a larger one only so many that it shows; raises OSError."""
    system, path = file_system(address)

    def read() -> bytes:
        if not _is_http(system):
            data: bytes = system.cat_file(path, start=0, end=limit + 1)
            return data
        with system.open(path, "rb", block_size=0) as stream:  # not every server knows ranges
            return _read_up_to(stream.read, limit + 1)

    return persist(read, what=f"cannot read {address}")


def open_binary(place: str) -> BinaryIO:
    """A file of this machine or of a store, opened for reading; raises OSError."""
    if not is_address(place):
        return open_regular(place)
    return io.BufferedReader(RemoteFile(place), buffer_size=64 * 1024)


class RemoteFile(io.RawIOBase):
    """An object of a store as a file. Blocks are read one ahead, each of the length it must have.

    A web server that knows no ranges is read from the start, again after every error and every step back.
    """

    def __init__(self, address: str, *, block: int = BLOCK) -> None:
        self.name = address
        self._system, self._path = file_system(address)
        found = persist(lambda: self._system.info(self._path), what=f"cannot read {address}")
        self._size: int | None = found.get("size")
        self._ranges = not _is_http(self._system) or bool(found.get("partial"))
        self._position = 0
        self._block = block
        self._blocks: dict[int, Future[bytes]] = {}
        self._reader = ThreadPoolExecutor(1, thread_name_prefix="viewvote-remote")
        self._stream: Any = None
        self._stream_at = 0

    def readable(self) -> bool:
        """True."""
        return True

    def seekable(self) -> bool:
        """Whether its size is known, and so what lies where."""
        return self._size is not None

    def tell(self) -> int:
        """The position of the next byte."""
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move to a byte."""
        if self._size is None:
            raise io.UnsupportedOperation("seek")
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence]
        self._position = max(0, start + offset)
        return self._position

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer from the block that is next."""
        if self._size is not None and self._position >= self._size:
            return 0
        number = self._position // self._block
        data = self._ask(number).result()
        if self._size is None or (number + 1) * self._block < self._size:
            self._ask(number + 1)
        for old in [one for one in self._blocks if one < number or one > number + 1]:
            self._blocks.pop(old).cancel()
        start = self._position - number * self._block
        piece = data[start : start + len(buffer)]
        buffer[: len(piece)] = piece
        self._position += len(piece)
        return len(piece)

    def close(self) -> None:
        """Stop reading ahead."""
        if not self.closed:
            self._reader.shutdown(cancel_futures=True)
            self._blocks.clear()
            if self._stream is not None:
                self._stream.close()
        super().close()

    def _ask(self, number: int) -> "Future[bytes]":
        if number not in self._blocks:
            self._blocks[number] = self._reader.submit(self._fetch, number * self._block)
        return self._blocks[number]

    def _fetch(self, start: int) -> bytes:
        end = start + self._block if self._size is None else min(start + self._block, self._size)
        read = self._range if self._ranges else self._forward

        def whole() -> bytes:
            data = read(start, end)
            if self._size is not None and len(data) != end - start:
                raise EOFError(f"the store sent {len(data)} of {end - start} bytes")
            return data

        return persist(whole, what=f"cannot read {self.name}")

    def _range(self, start: int, end: int) -> bytes:
        data: bytes = self._system.cat_file(self._path, start=start, end=end)
        return data

    def _forward(self, start: int, end: int) -> bytes:
        if self._stream is None or self._stream_at != start:
            self._stream, self._stream_at = self._system.open(self._path, "rb", block_size=0), 0
        stream, self._stream = self._stream, None  # kept only if nothing fails
        while self._stream_at < start:
            skipped = len(stream.read(min(self._block, start - self._stream_at)))
            if not skipped:
                return b""
            self._stream_at += skipped
        data = _read_up_to(stream.read, end - start)
        self._stream, self._stream_at = stream, start + len(data)
        return data


def _is_http(system: Any) -> bool:
    protocol = system.protocol
    return "http" in ([protocol] if isinstance(protocol, str) else protocol)


def _read_up_to(read: Callable[[int], bytes], size: int) -> bytes:
    """`size` bytes, or all there are: a stream may return fewer at a time."""
    pieces = []
    while size > 0 and (piece := read(size)):
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)
