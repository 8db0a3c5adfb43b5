"""The append-only log of a run: whole lines in the run's order, repaired after a crash.

Lines go out in one write each, so `kill -9` costs at most the samples in flight. The file is synced to disk every few
seconds and at the end, so a power loss costs at most those seconds. Whatever a crash leaves at the end, half a line or
zeros, is cut off by `recover` before anything is appended, and computed again. Other damage is the user's to judge.
"""

import errno
import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from time import monotonic

from ..errors import RecordError, RunError, RunWriteError
from ..files import sync_folder
from ..reading import open_regular
from ..records.record import Record

SYNC_SECONDS = 5.0
BLOCK = 1 << 20
SECTOR = 512
"""The least that a disk writes as a whole, in bytes."""


@dataclass
class Recovered:
    """What a log holds: so many whole records, so many of them right, the positions of the failed ones.

    `cut` are the bytes of a damaged end, which `recover` removed.
    """

    count: int = 0
    correct: int = 0
    errors: list[int] = field(default_factory=list)
    cut: int = 0

    def add(self, record: Record) -> None:
        """Count one more record."""
        if record.error is not None:
            self.errors.append(self.count)
        self.correct += record.correct is True
        self.count += 1


def recover(path: Path, keys: Iterable[str]) -> Recovered:
    """What the log holds, its damaged end cut off; `keys` are those of the run's samples in order.

    Damage that no crash can do, or a record of another sample than expected, is an error and nothing is changed.
    """
    found = Recovered()
    if not path.exists():
        return found
    whole = 0
    expected = iter(keys)
    with open_regular(path) as file:
        for line in file:
            try:
                record = _parse(line)
            except RecordError as error:
                _check_crash(path, chain([line], file), start=whole, number=found.count + 1, error=error)
                break
            key = next(expected, None)
            if record.key != key:
                raise RunError(
                    f"record {found.count} of {path} is of {record.key!r}, but the dataset's sample there is {key!r}. "
                    "The file was changed by hand, or belongs to another run; move it away to start again."
                )
            found.add(record)
            whole += len(line)
    found.cut = path.stat().st_size - whole
    if found.cut:
        os.truncate(path, whole)
    return found


def read_lines(path: Path) -> Iterator[str]:
    """The lines of a recovered log, without their line breaks."""
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield line.removesuffix("\n")


def count_records(path: Path) -> int:
    """How many whole lines a file of records has; a cut-off last line is not yet a record."""
    try:
        with open_regular(path) as stream:
            return sum(block.count(b"\n") for block in iter(lambda: stream.read(BLOCK), b""))
    except OSError as error:
        raise RecordError(f"cannot read {path}: {error.strerror or error}.") from error


def cut_back(path: Path, count: int) -> None:
    """Cut off all but the first records of a recovered log."""
    with path.open("rb") as file:
        size = sum(map(len, islice(file, count)))
    os.truncate(path, size)


class RecordLog:
    """Appends records to a recovered log; a context that syncs and closes it."""

    def __init__(
        self, path: Path, *, sync_seconds: float = SYNC_SECONDS, clock: Callable[[], float] = monotonic
    ) -> None:
        self.path = path
        self._sync_seconds = sync_seconds
        self._clock = clock
        try:
            self._file = path.open("ab", buffering=0)
            sync_folder(path.parent)
        except OSError as error:
            raise write_error(path, error) from error
        self._size = path.stat().st_size
        self._synced = clock()

    def __enter__(self) -> "RecordLog":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        with suppress(*([RunWriteError] if kind else [])):  # the first error is the one to raise
            self.close()

    def append(self, lines: Sequence[str]) -> None:
        """Write the lines: all of them, or none and an error."""
        data = memoryview("".join(f"{line}\n" for line in lines).encode())
        written = 0
        try:
            while written < len(data):
                written += self._file.write(data[written:])
            if self._clock() - self._synced >= self._sync_seconds:
                self._sync()
        except OSError as error:
            with suppress(OSError):  # `recover` cuts it off as well
                os.truncate(self.path, self._size)
            raise write_error(self.path, error) from error
        self._size += len(data)

    def close(self) -> None:
        """Sync what was written, and close the file."""
        if self._file.closed:
            return
        try:
            self._sync()
        except OSError as error:
            raise write_error(self.path, error) from error
        finally:
            self._file.close()

    def _sync(self) -> None:
        os.fsync(self._file.fileno())
        self._synced = self._clock()


def write_error(path: Path, error: OSError) -> RunWriteError:
    """The error for a file of a run that cannot be written, with what to do."""
    advice = {
        errno.ENOSPC: "Free some space, then the same command continues.",
        errno.EDQUOT: "Your quota is used up: free some space, then the same command continues.",
        errno.EFBIG: "The file system or a limit (ulimit -f) allows no larger file; raise it, then continue.",
    }.get(error.errno or 0, "Check the disk and the folder's permissions, then the same command continues.")
    return RunWriteError(f"cannot write {path}: {error.strerror or error}. What was recorded is safe. {advice}")


def _parse(line: bytes) -> Record:
    """The record of a whole line."""
    if not line.endswith(b"\n"):
        raise RecordError("not a record: the line has no end.")
    return Record.from_line(line)


def _check_crash(path: Path, lines: Iterable[bytes], *, start: int, number: int, error: RecordError) -> None:
    """Raise RunError unless a crash can leave these last lines, which start with one that is no record.

    A crash leaves the beginning of a line, garbage, or a hole: zeros for sectors that were not written yet, while later
    ones may have been. It does not leave whole lines behind anything but a hole.
    """
    for later, line in enumerate(lines, start=number):
        if _is_hole(line, start=start, end_of_file=path.stat().st_size):
            return
        start += len(line)
        if _is_object(line):
            what = (
                f"is no record of this version: {error} Continue with the version that wrote it, or"
                if later == number
                else f"is damaged, and line {later} is a record. Put back a copy of the file, or"
            )
            raise RunError(f"line {number} of {path} {what} move it away to start again. Nothing was changed.")


def _is_hole(line: bytes, *, start: int, end_of_file: int) -> bool:
    """Whether a line that starts at byte `start` has zeros up to the end of a sector or of the file."""
    end = start + line.rfind(b"\0") + 1
    return b"\0" in line and (end % SECTOR == 0 or end == end_of_file)


def _is_object(line: bytes) -> bool:
    """Whether this is a whole line of JSON with keys, whatever they are."""
    try:
        return line.endswith(b"\n") and isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False
