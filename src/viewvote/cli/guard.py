"""Where errors become messages and exit codes: 2 for a usage mistake, 1 for a failed run, never a traceback."""

import errno
import functools
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec

from ..errors import ViewvoteError, brief
from .interrupts import interrupt_is_reported

P = ParamSpec("P")
_PLACES = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ELOOP)
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


def guarded(command: Callable[P, int | None]) -> Callable[P, None]:
    """The command with its errors reported in one line; what it returns becomes the exit code."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            code = command(*args, **kwargs) or 0
            sys.stdout.flush()
        except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - the edge: a bug too ends in one line
            code = exit_code_of(error, run)
        if code:
            sys.exit(code)

    return run


def open_closed_streams() -> None:
    """Open the null device as a stdout or stderr that is closed (`2>&-`): the next file would get its number."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - as long as the process


def exit_code_of(error: BaseException, command: Callable[..., object] | None = None) -> int:
    """The exit code of a command that ended with this error, which is reported in one line and in its options."""
    if isinstance(error, ViewvoteError):
        complain(str(error) if command is None else _in_options(str(error), command))
        return error.exit_code
    if isinstance(error, KeyboardInterrupt):
        complain(f"interrupted. {error}".rstrip())
        interrupt_is_reported()
        return 130
    if isinstance(error, BrokenPipeError):  # the reader went away (`| head`): nothing to report
        _forget_stdout()
        return 141
    if isinstance(error, OSError) and error.errno in _FULL:
        _forget_stdout()
        complain(f"cannot write: {error.strerror}.")
        return 1
    if isinstance(error, OSError) and error.errno in (*_PLACES, errno.ENAMETOOLONG) and error.filename is not None:
        complain(f"cannot use {os.fsdecode(error.filename)}: {error.strerror}.")
        return 2
    if isinstance(error, MemoryError):
        complain(
            "there is not enough memory for this; what is recorded stays. Use fewer labels or views, or free some."
        )
        return 1
    if os.environ.get("VIEWVOTE_DEBUG"):
        traceback.print_exception(error)
    complain(f"unexpected {type(error).__name__}: {brief(str(error))}. Set VIEWVOTE_DEBUG=1 to see where.")
    return 1


def _in_options(message: str, command: Callable[..., object]) -> str:
    from .wording import in_options  # not above: typer's import is guarded too

    return in_options(message, command)


def _forget_stdout() -> None:
    """Point stdout at the null device, so that Python does not fail to flush it while it shuts down."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def complain(message: str) -> None:
    """Write one line to stderr, whatever the terminal's encoding."""
    encoding = sys.stderr.encoding or "utf-8"
    text = f"viewvote: {message}".encode(encoding, "backslashreplace").decode(encoding)
    sys.stderr.write(text + "\n")
