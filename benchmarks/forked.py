"""Command lines in forked children of a process that has everything imported: they start in milliseconds."""

import os
import signal
import sys
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path


class Forked:
    """A child that runs a command line of viewvote with its output thrown away; like a `subprocess.Popen`."""

    def __init__(self, words: Sequence[str], *, note: Path | None = None, environment: Mapping[str, str] = {}) -> None:
        self._code: int | None = None
        with warnings.catch_warnings():  # Python warns where a parent has threads; ours wait in accept or not at all
            warnings.simplefilter("ignore", DeprecationWarning)
            self.pid = os.fork()
        if self.pid == 0:
            _run(words, note, environment)

    def poll(self) -> int | None:
        """Its exit code; None while it runs."""
        if self._code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self._code = os.waitstatus_to_exitcode(status)
        return self._code

    def wait(self, seconds: float = 600.0) -> int | None:
        """Its exit code; None where it still runs after so many seconds."""
        end = time.monotonic() + seconds
        while self.poll() is None and time.monotonic() < end:
            time.sleep(0.001)
        return self._code

    def kill(self) -> None:
        """SIGKILL it and wait."""
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)
            self.wait()


def import_everything() -> None:
    """Import what commands would import late, without running any of it: threads do not live on in a child."""
    import viewvote.cli.commands
    import viewvote.cli.evaluate
    import viewvote.encoders.toy
    import viewvote.runs
    import viewvote.runs.engines
    import viewvote.server.run  # noqa: F401


def _run(words: Sequence[str], note: Path | None, environment: Mapping[str, str]) -> None:
    """The child: it never returns."""
    code = 70
    try:
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2) if words[0] == "serve" else (0, 1):  # its log is long
            os.dup2(nothing, descriptor)
        os.environ.update(environment)
        if note is not None:
            os.fsync = _noted(os.fsync, note)
        sys.argv = ["viewvote", *words]
        from viewvote.cli import main

        main()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    finally:
        sys.stdout.flush()
        os._exit(code)


def _noted(whole: Callable[[int], None], note: Path) -> Callable[[int], None]:
    """`os.fsync` that notes the file and its size whenever one is synced."""

    def fsync(descriptor: int) -> None:
        whole(descriptor)
        with note.open("a") as file:
            file.write(f"{os.fstat(descriptor).st_ino} {os.fstat(descriptor).st_size}\n")

    return fsync
