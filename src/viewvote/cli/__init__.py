"""The command line: thin. Parse, call, print."""

import sys
import warnings

from .guard import exit_code_of, open_closed_streams
from .interrupts import answer_interrupts

__all__ = ["main"]


def main() -> None:
    """The `viewvote` command; an error outside of the commands, in their imports or in --help, is one line too."""
    open_closed_streams()
    answer_interrupts()
    warnings.filterwarnings("ignore", module=r"PIL\.")  # remarks on a file's metadata, with lines of Pillow's source
    try:
        from .commands import app

        app()
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - the edge
        sys.exit(exit_code_of(error))
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):  # typer exits with 1 where a reader goes away
            sys.exit(exit_code_of(end.__context__))
        raise
