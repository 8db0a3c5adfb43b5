"""Work for asyncio in a thread, that stops soon after nobody waits for it."""

import asyncio
import os
from collections.abc import Callable, Sequence
from threading import Event
from typing import TypeVar

from ..arrays import Float32, UInt8
from .scheduler import Encode

T = TypeVar("T")

VIEWS_AT_ONCE = max(16, os.cpu_count() or 1)
"""Views between two looks at whether to go on: few, but enough for every core."""


class GivenUpError(Exception):
    """Nobody waits for the answer; never seen outside of the thread."""


async def in_thread(work: Callable[[Event], T]) -> T:
    """What `work` returns, called in a thread of the loop; it is given an event that is set when this is cancelled."""
    given_up = Event()
    try:
        return await asyncio.to_thread(work, given_up)
    except asyncio.CancelledError:
        given_up.set()
        raise


def until(given_up: Event, encode: Encode) -> Encode:
    """The same encoding, which raises GivenUpError once the event is set."""

    def encode_unless(units: Sequence[UInt8]) -> Sequence[Float32]:
        if given_up.is_set():
            raise GivenUpError
        return encode(units)

    return encode_unless
