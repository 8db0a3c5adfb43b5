"""Where errors become messages and exit codes: 2 for a usage mistake, 1 for a failed run, never a traceback."""

import functools
import os
import sys
import traceback
from collections.abc import Callable
from typing import ParamSpec

from ..errors import ViewvoteError

P = ParamSpec("P")


def guarded(command: Callable[P, int | None]) -> Callable[P, None]:
    """The command with its errors told in one line; what it returns becomes the exit code."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            code = command(*args, **kwargs) or 0
            sys.stdout.flush()
        except ViewvoteError as error:
            complain(str(error))
            code = error.exit_code
        except KeyboardInterrupt:
            complain("interrupted.")
            code = 130
        except BrokenPipeError:
            # The reader went away (`| head`): say nothing, and keep Python from complaining while it shuts down.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            code = 141
        except Exception as error:  # noqa: BLE001 - the edge: a bug must still end in words
            if os.environ.get("VIEWVOTE_DEBUG"):
                traceback.print_exc()
            complain(f"unexpected {type(error).__name__}: {error}. Set VIEWVOTE_DEBUG=1 to see where.")
            code = 1
        if code:
            sys.exit(code)

    return run


def complain(message: str) -> None:
    """One line on stderr, whatever the terminal's encoding."""
    encoding = sys.stderr.encoding or "utf-8"
    text = f"viewvote: {message}".encode(encoding, "backslashreplace").decode(encoding)
    sys.stderr.write(text + "\n")
