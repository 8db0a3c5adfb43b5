"""One process at a time in a run's folder. The kernel holds the lock, so a process that dies leaves nothing behind."""

import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from ..errors import RunError, RunLockedError, RunWriteError

if sys.platform == "win32":
    import msvcrt

    def _take(descriptor: int) -> None:
        # Windows locks bytes against reading too: one far beyond the text leaves that readable.
        os.lseek(descriptor, 1 << 30, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        os.lseek(descriptor, 0, os.SEEK_SET)
else:
    import fcntl

    def _take(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def hold(path: Path) -> Iterator[None]:
    """Holds the lock file `path` while the block runs; an error names the process that holds it already.

    The file says who holds it and stays behind, empty: removing it could take it from under a third process.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise RunWriteError(f"cannot write {path}: {error.strerror or error}.") from error
    try:
        try:
            _take(descriptor)
        except (BlockingIOError, PermissionError) as error:
            raise RunLockedError(
                f"{path.parent} is in use by {_holder(descriptor)}. Wait until it ends, or end it; "
                "then the same command continues. Nothing was changed."
            ) from error
        except OSError as error:
            raise RunError(
                f"cannot lock {path}: {error.strerror or error}. "
                "Some network file systems have no locks; choose an --out on another disk."
            ) from error
        _write(descriptor, f"process {os.getpid()} on {socket.gethostname()} since {datetime.now(UTC):%F %T} UTC")
        yield
        _write(descriptor, "")
    finally:
        os.close(descriptor)


def _holder(descriptor: int) -> str:
    os.lseek(descriptor, 0, os.SEEK_SET)
    return os.read(descriptor, 500).decode("utf-8", "replace").strip() or "another process"


def _write(descriptor: int, text: str) -> None:
    """Best effort: a full disk must not stop a process that only wants to say who it is."""
    try:
        os.ftruncate(descriptor, 0)
        os.lseek(descriptor, 0, os.SEEK_SET)
        os.write(descriptor, text.encode())
    except OSError:
        return
