"""One process at a time in a sorted folder; the lock lies elsewhere, so that undoing leaves nothing behind."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path

from filelock import FileLock, Timeout

from ..errors import RunLockedError


@contextmanager
def hold_folder(folder: Path) -> Iterator[None]:
    """Hold the folder while the block runs; RunLockedError where another process of this machine does."""
    digest = blake2b(str(folder.resolve()).encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()
    path = Path(tempfile.gettempdir()) / f"viewvote-sort-{digest}.lock"
    lock = FileLock(path, blocking=False, fallback_to_soft=False)
    try:
        lock.acquire()
    except Timeout as error:
        raise RunLockedError(f"{folder} is being sorted by another process. Wait until it ends, or end it.") from error
    except OSError:  # no place for a lock, or another user's: go on without
        yield
        return
    try:
        yield
    finally:
        lock.release()
