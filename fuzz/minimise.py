"""The smallest input that still shows a fault."""

from collections.abc import Callable
from time import perf_counter


def minimised(data: bytes, still: Callable[[bytes], bool], *, seconds: float) -> bytes:
    """The input with as much left out as the fault allows, pieces of half its length first; stops when time is up."""
    end = perf_counter() + seconds
    piece = len(data) // 2
    while piece:
        at = 0
        while at < len(data):
            if perf_counter() > end:
                return data
            shorter = data[:at] + data[at + piece :]
            if still(shorter):
                data = shorter
            else:
                at += piece
        piece = min(piece // 2, len(data) // 2) if len(data) > 1 else 0
    return data
