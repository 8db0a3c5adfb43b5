"""An answer to Ctrl-C within a second, whatever the command is busy with.

Python raises KeyboardInterrupt between two of its own instructions: not while the main thread is inside a model, nor
while it waits for others to clean up. A thread of its own hears of the signal at once, and ends what does not end.
"""

import os
import signal
import sys
from threading import Event, Thread

UNWINDS = 0.7
"""Seconds for the command to end by itself, closing its files."""

EXITS = 0.2
"""Seconds after that for the interpreter, which may wait for threads of libraries."""

_reported = Event()


def answer_interrupts() -> None:
    """End this process within a second of every Ctrl-C from now on; called by the main thread."""
    if os.name != "posix":  # elsewhere the signal cannot be heard through a pipe
        return
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    Thread(target=_watch, args=[reading], name="viewvote-interrupts", daemon=True).start()


def leave_interrupts_alone() -> None:
    """Undo `answer_interrupts`, for a command that has its own way to end."""
    if os.name == "posix":
        signal.set_wakeup_fd(-1)


def interrupt_is_reported() -> None:
    """Note that the command has ended by itself and said so."""
    _reported.set()


def _watch(reading: int) -> None:
    while signal.SIGINT not in os.read(reading, 64):
        pass
    if _reported.wait(UNWINDS):
        Event().wait(EXITS)
    else:
        os.write(2, b"viewvote: interrupted.\n")
    flushing = Thread(target=sys.stdout.flush, daemon=True)  # it hangs where nobody reads
    flushing.start()
    flushing.join(0.1)
    os._exit(130)
