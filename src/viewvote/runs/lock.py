"""One process at a time in a run's folder. The kernel holds the lock, so a process that dies leaves nothing behind."""

import errno
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from ..errors import RunError, RunLockedError, RunWriteError

NO_LOCKS = (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP)
"""What a file system answers that has no locks."""


@contextmanager
def hold(path: Path) -> Iterator[None]:
    """Hold the lock file `path` while the block runs; an error names the process that holds it already.

    The file names its holder and stays behind, empty: removing it could take it from under a third process.
    """
    descriptors: list[int] = []
    lock = FileLock(
        path,
        mode=0o644,
        blocking=False,
        fallback_to_soft=False,  # such a lock would outlive its process
        preserve_lock_file=True,
        on_acquired=descriptors.append,
    )
    try:
        lock.acquire()
    except Timeout as error:
        raise RunLockedError(
            f"{path.parent} is in use by {_holder(path)}. Wait until it ends, or end it; "
            "then the same command continues. Nothing was changed."
        ) from error
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise RunWriteError(f"cannot write {path}: {error.strerror or error}.") from error
        raise RunError(
            f"cannot lock {path}: {error.strerror or error}. "
            "Some network file systems have no locks; choose an --out on another disk."
        ) from error
    try:
        _name_holder(
            descriptors[0], f"process {os.getpid()} on {socket.gethostname()} since {datetime.now(UTC):%F %T} UTC"
        )
        yield
        _name_holder(descriptors[0], "")
    finally:
        lock.release()


def _holder(path: Path) -> str:
    """The process that holds the lock, as it wrote it down."""
    with suppress(OSError), path.open("rb", buffering=0) as file:
        file.seek(1)  # Windows locks the first byte against reading
        return file.read(500).decode("utf-8", "replace").strip() or "another process"
    return "another process"


def _name_holder(descriptor: int, text: str) -> None:
    """Write who holds the lock, from the second byte on; a full disk must not stop a process for that."""
    with suppress(OSError):
        os.ftruncate(descriptor, 0)
        os.lseek(descriptor, 0, os.SEEK_SET)
        os.write(descriptor, f"\n{text}".encode() if text else b"")
