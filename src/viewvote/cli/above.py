"""Lines above a progress bar: what is written to the bar's terminal must neither cover the bar nor be covered by it."""

import io
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.console import Console


@contextmanager
def lines_above(console: "Console") -> Iterator[None]:
    """Sends stderr, and stdout where it is the same terminal, above the live display of `console`."""
    with ExitStack() as stack:
        stack.enter_context(redirect_stderr(stack.enter_context(_Above(console, sys.stderr))))
        if sys.stdout.isatty() and os.path.sameopenfile(sys.stdout.fileno(), console.file.fileno()):
            stack.enter_context(redirect_stdout(stack.enter_context(_Above(console, sys.stdout))))
        yield


class _Above(io.TextIOBase):
    """A stream that hands whole lines to the console; long ones are wrapped by the terminal, as without a bar.

    Rich has a stream of this kind, but it breaks lines at the width of the terminal, in the middle of JSON.
    """

    def __init__(self, console: "Console", stream: TextIO) -> None:
        self._console = console
        self._stream = stream
        self._begun = ""

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._stream.encoding

    def fileno(self) -> int:
        return self._stream.fileno()

    def isatty(self) -> bool:
        return self._stream.isatty()

    def write(self, text: str) -> int:
        whole, newline, self._begun = (self._begun + text).rpartition("\n")
        if newline:
            self._console.out(whole, highlight=False)
        return len(text)

    def close(self) -> None:
        """Leave the line that was begun to the stream."""
        if not self.closed:
            self._stream.write(self._begun)
        super().close()
