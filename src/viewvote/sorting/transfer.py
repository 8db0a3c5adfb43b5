"""One file to its new place, in steps after each of which the process may die."""

import errno
import filecmp
import os
import shutil
from pathlib import Path

from ..files import sync_folder

PART = ".viewvote-sort.part"
"""A copy that is not whole yet; one to a folder, as files go one by one."""

_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EINVAL)
"""What file systems answer that have no hard links."""


def bring(source: Path, target: Path, *, move: bool) -> None:
    """Copy or move the file with its dates and metadata; whatever of it an earlier try did is not done again.

    Nothing that is at `target` is replaced: another file there raises FileExistsError. The source of a move goes last.
    """
    part = target.with_name(PART)
    part.unlink(missing_ok=True)
    if os.path.lexists(target):
        _check_own(source, target)
    elif move and _linked(source, target):
        pass
    else:
        shutil.copy2(source, part)
        _sync(part)
        if not _linked(part, target):
            _rename(part, target)
        part.unlink(missing_ok=True)
        sync_folder(target.parent)
    if move:
        source.unlink(missing_ok=True)


def _check_own(source: Path, target: Path) -> None:
    """Raise FileExistsError unless the target is what an earlier try has left there."""
    if os.path.lexists(source) and not (target.is_file() and filecmp.cmp(source, target, shallow=False)):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))


def _linked(source: Path, target: Path) -> bool:
    """Give the file its second name in one step, which fails if something has it; False where that cannot be."""
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError as error:
        if error.errno in (*_NO_LINKS, errno.EXDEV):
            return False
        raise
    return True


def _rename(part: Path, target: Path) -> None:
    """Rename where nothing else is; without links this takes two steps."""
    if os.path.lexists(target):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))
    part.rename(target)


def _sync(path: Path) -> None:
    """Have the copy on the disk before anything depends on it."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
