"""Lines above a progress bar: what goes to the same terminal must neither cover the bar nor be covered by it."""

import io
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from typing import TYPE_CHECKING, TextIO
from unicodedata import combining, east_asian_width

if TYPE_CHECKING:
    from rich.console import Console


@contextmanager
def lines_above(console: "Console") -> Iterator[None]:
    """Redirect stderr, and stdout where it is the same terminal, to lines above the live display of `console`."""
    with ExitStack() as stack:
        stack.enter_context(redirect_stderr(stack.enter_context(_LinesAbove(console, sys.stderr))))
        if sys.stdout.isatty() and os.path.sameopenfile(sys.stdout.fileno(), console.file.fileno()):
            stack.enter_context(redirect_stdout(stack.enter_context(_LinesAbove(console, sys.stdout))))
        yield


class _LinesAbove(io.TextIOBase):
    """A stream that gives whole lines to the console; the terminal wraps long ones, as without a bar.

    Rich has a stream of this kind, but it breaks lines at the width of the terminal, in the middle of JSON.
    """

    def __init__(self, console: "Console", stream: TextIO) -> None:
        self._console = console
        self._stream = stream
        self._partial = ""

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._stream.encoding

    def fileno(self) -> int:
        return self._stream.fileno()

    def isatty(self) -> bool:
        return self._stream.isatty()

    def write(self, text: str) -> int:
        whole, newline, self._partial = (self._partial + text).rpartition("\n")
        if newline:
            self._console.out(whole, highlight=False)
        return len(text)

    def close(self) -> None:
        """Write a last line that has no end to the stream itself."""
        if not self.closed:
            self._stream.write(self._partial)
        super().close()


def columns_of(text: str) -> int:
    """How many columns of a terminal the text takes: Chinese, Japanese and Korean characters take two."""
    return len(text) if text.isascii() else sum(_columns(character) for character in text)


def _columns(character: str) -> int:
    return 0 if combining(character) else 2 if east_asian_width(character) in "WF" else 1
