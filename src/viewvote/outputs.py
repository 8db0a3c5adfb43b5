"""The files that commands write: where they may lie, what they may replace, and one writer at a time."""

import csv
import errno
import io
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TextIO

from .errors import UsageError
from .files import opened_at_once, write_whole
from .reading import reason

if os.name == "posix":
    import fcntl


def check_output(path: Path, *, overwrite: bool, otherwise: str = "Replace it with --overwrite.") -> None:
    """Raise UsageError unless a command may write this file.

    Not into the folder of a run, whose records would be lost; not over a file that is there, unless asked to; and not
    where nothing can be written, which a command should not find out after an hour.

    Args:
        path: The file that a user named; it may be a device or a pipe such as /dev/stdout.
        overwrite: Whether a file that is there may be replaced.
        otherwise: What to do where it may not.
    """
    with _as_usage_error(path):
        place = path.resolve()
        _check_place(path, place.parent)
        if path.is_dir():
            raise UsageError(f"cannot write {path}: it is a folder.")
        if path.is_file() and not overwrite:
            raise UsageError(f"{path} exists. {otherwise}")
        place.parent.stat()
        existing = place if _exists(place) else place.parent
        if not os.access(existing, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def check_folder(path: Path, *, overwrite: bool) -> None:
    """Raise UsageError unless a command may make this folder, or replace it; the folders above it are made."""
    with _as_usage_error(path):
        _check_place(path, path.resolve())
        if _exists(path) and (not path.is_dir() or any(path.iterdir())) and not overwrite:
            raise UsageError(
                f"{path} exists and is not empty; choose another folder, or replace it with overwrite=True."
            )
        path.parent.mkdir(parents=True, exist_ok=True)


def put_output(path: Path, data: str | bytes) -> None:
    """Write a whole file that `check_output` admitted, in one step; UsageError where that fails.

    A link is followed, and what is no regular file (/dev/stdout) is written to rather than replaced.
    """
    with _as_usage_error(path):
        place = path.resolve()
        if _exists(place) and not place.is_file():
            with open(place, "wb", opener=opened_at_once) as file:
                file.write(data.encode() if isinstance(data, str) else data)
        else:
            write_whole(place, data)


def open_to_add(path: Path) -> TextIO:
    """The file, opened at its end; UsageError where that fails."""
    with _as_usage_error(path):
        return open(path, "a", encoding="utf-8", newline="", opener=opened_at_once)


def lock_output(file: IO[str], path: Path) -> None:
    """Lock an open file for as long as it is open; UsageError where another process has it.

    The lock is the kernel's and on the file itself: nothing is left behind, whatever becomes of the process. Systems
    and file systems without such locks go without.
    """
    if os.name != "posix":
        return
    try:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise UsageError(
            f"{path} is being written by another process. Wait until it ends, or choose another --output."
        ) from error
    except OSError:
        return


def csv_line(values: Iterable[object]) -> str:
    """The values as one row of CSV without its end; a value with a line break of any kind is quoted."""
    line = io.StringIO()
    csv.writer(line, lineterminator="\r\n").writerow(values)  # the writer quotes what its own line end is made of
    return line.getvalue().removesuffix("\r\n")


def _check_place(path: Path, folder: Path) -> None:
    """Raise UsageError where the folder, or one above it, is that of a run."""
    run = next((place for place in (folder, *folder.parents) if _is_run(place)), None)
    if run is not None:
        raise UsageError(f"{path} is inside the run {run}, whose files nothing else may touch; choose another place.")


def _is_run(folder: Path) -> bool:
    """Whether this is the folder of a run, as `viewvote eval` makes it."""
    return (folder / "spec.toml").is_file() and any((folder / name).is_file() for name in ("records.jsonl", "lock"))


def _exists(path: Path) -> bool:
    """Whether there is anything; raises OSError where that cannot be seen, which Path.exists hides for some reasons."""
    try:
        path.lstat()
    except FileNotFoundError:
        return False
    return True


@contextmanager
def _as_usage_error(path: Path) -> Iterator[None]:
    """Make the system's refusals of a path UsageErrors that name it."""
    try:
        yield
    except UsageError:
        raise
    except OSError as error:
        why = "nobody reads this pipe" if error.errno == errno.ENXIO else reason(error)
        raise UsageError(f"cannot write {path}: {why}.") from error
    except (ValueError, RuntimeError) as error:  # a name that no file can have; links in a circle
        raise UsageError(f"cannot write {path}: {error}.") from error
