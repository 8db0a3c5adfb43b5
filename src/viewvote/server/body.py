"""The bytes of a request, never more than allowed: counted while they arrive, before anything is held."""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager

from starlette.requests import Request

from .refusals import RefusedError


class Buffers:
    """The memory for bodies of all requests together."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self.held = 0

    @contextmanager
    def space(self) -> Iterator["Space"]:
        """Space for one body, given back in the end."""
        space = Space(self)
        try:
            yield space
        finally:
            self.held -= space.taken

    def take(self, count: int) -> None:
        """Count bytes in, or refuse them."""
        if self.held + count > self._max_bytes:
            headers = {"Retry-After": "1"}
            raise RefusedError("queue_full", "too many requests are being sent; try again soon.", headers=headers)
        self.held += count


class Space:
    """What one request holds of the buffers."""

    def __init__(self, buffers: Buffers) -> None:
        self._buffers = buffers
        self.taken = 0

    def take(self, count: int) -> None:
        """Count bytes in, or refuse them."""
        self._buffers.take(count)
        self.taken += count


async def bounded_stream(
    request: Request, space: Space, *, max_bytes: int, seconds: float
) -> AsyncGenerator[bytes, None]:
    """The chunks of the body; RefusedError as soon as it is too large or too slow."""
    check_length(request, max_bytes=max_bytes)
    seen = 0
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    stream = request.stream()
    while True:
        try:
            async with asyncio.timeout_at(end):
                chunk = await anext(stream, None)
        except TimeoutError as error:
            raise RefusedError("slow_request", f"the request did not arrive within {seconds:g} seconds.") from error
        if chunk is None:
            return
        seen += len(chunk)
        if seen > max_bytes:
            raise too_large(max_bytes)
        space.take(len(chunk))
        yield chunk


def check_length(request: Request, *, max_bytes: int) -> None:
    """Raise RefusedError where the header announces too much; a wrong one is the protocol's business."""
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and int(announced[:20]) > max_bytes:
        raise too_large(max_bytes)


def too_large(max_bytes: int) -> RefusedError:
    """The error of a body over the limit."""
    return RefusedError(
        "request_too_large",
        f"the request has more than {max_bytes:,} bytes, which is the limit. Send smaller images, or fewer at a time.",
    )
