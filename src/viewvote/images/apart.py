"""Decoding here, or in a process apart that can be stopped: where it may take long, or memory that nobody foresees."""

import atexit
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from threading import Event, Lock, Timer
from typing import IO, Any

from PIL import Image

from .. import errors
from ..errors import UnreadableImageError, ViewvoteError
from .decode import decode
from .extras import HEIC, RAW, is_heif, is_raw, prepare_heif, preview_of
from .failures import shown
from .formats import must_be_read_apart
from .header import Header, read_header
from .limits import ImageLimits

MOST_IDLE = 2
"""Processes that are kept for the next image."""

_START = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from viewvote.images.apart_process import main
main()
"""


def header_of(data: bytes, name: str, limits: ImageLimits) -> Header:
    """`read_header`, wherever this file's is to be read."""
    if is_heif(data) and not HEIC.installed:
        prepare_heif(name)  # no process is needed to say what is missing
    if not must_be_read_apart(data) or not _can_start():
        return read_header(data, name, limits)
    with _worker(name, limits) as worker:
        values = worker.ask(data, name, limits)
        return header_from(values["header"])


def encoded_of(data: bytes, name: str, limits: ImageLimits) -> bytes:
    """`preview_of`: of a raw photograph its preview, other files as they are."""
    if not is_raw(name) or not RAW.installed or not _can_start():
        return preview_of(data, name)
    with _worker(name, limits) as worker:
        return worker.take(worker.ask(data, name, limits, preview=True)["bytes"])


def level_of(data: bytes, name: str, header: Header, *, factor: int, limits: ImageLimits) -> Image.Image:
    """`decode`, wherever this image is to be decoded."""
    if not header.apart or not _can_start():
        return decode(data, name, header, factor=factor, limits=limits)
    with _worker(name, limits) as worker:
        return worker.take_level(worker.ask(data, name, limits, header=asdict(header), factor=factor))


def header_from(values: dict[str, Any]) -> Header:
    """The header whose fields travelled as JSON, which has no tuples."""
    values |= {name: tuple(value) for name, value in values.items() if isinstance(value, list)}
    return Header(**values)


class _Worker:
    """A process that decodes one image after another until its input ends."""

    def __init__(self) -> None:
        paths = [os.path.abspath(path) for path in sys.path]  # noqa: PTH100 - also of what is no path
        self.process = subprocess.Popen(  # noqa: S603 - this very Python
            [sys.executable, "-I", "-c", _START, json.dumps(paths)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def ask(self, data: bytes, name: str, limits: ImageLimits, **more: object) -> dict[str, Any]:
        """What it answers about an image; an error of the image is raised here."""
        request = {"name": name, "bytes": len(data), "limits": asdict(limits), **more}
        into = self._pipe(self.process.stdin)
        into.write(json.dumps(request).encode() + b"\n")
        into.write(data)
        into.flush()
        line = self._pipe(self.process.stdout).readline()
        if not line:
            raise EOFError
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise getattr(errors, answer["error"])(answer["message"])
        return answer

    def take(self, count: int) -> bytes:
        """So many bytes that follow an answer."""
        found = self._pipe(self.process.stdout).read(count)
        if len(found) < count:
            raise EOFError
        return found

    def take_level(self, answer: dict[str, Any]) -> Image.Image:
        """The image that follows an answer, strip by strip."""
        width, height = answer["size"]
        level = Image.new("RGB", (width, height))
        for top in range(0, height, answer["rows"]):
            rows = min(answer["rows"], height - top)
            level.paste(Image.frombytes("RGB", (width, rows), self.take(3 * width * rows)), (0, top))
        return level

    def end(self) -> None:
        """Stop it, whatever it does."""
        self.process.kill()
        for pipe in (self.process.stdin, self.process.stdout):
            with suppress(OSError):  # what was not sent yet cannot be
                self._pipe(pipe).close()
        self.process.wait()

    @staticmethod
    def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
        if pipe is None:
            raise AssertionError("a worker is started with pipes")
        return pipe


_idle: dict[int, list[_Worker]] = {}  # by process: a forked child must not share its parent's
_lock = Lock()


@contextmanager
def _worker(name: str, limits: ImageLimits) -> Iterator[_Worker]:
    """A process for one request. It is stopped at the deadline, and at any error but one of the image itself."""
    worker = _take()
    late = Event()

    def stop() -> None:
        late.set()
        worker.process.kill()

    timer = Timer(limits.decode_seconds, stop)
    timer.daemon = True
    timer.start()
    keep = False
    try:
        yield worker
        keep = True
    except ViewvoteError:
        keep = True
        raise
    except (EOFError, OSError, ValueError) as error:  # it ended: stopped, out of memory, or by a crash
        if late.is_set():
            reason = f"it was not decoded within {limits.decode_seconds:g} seconds"
        else:
            reason = "the process that decoded it ended (too much memory, or a defect of the decoder)"
        raise UnreadableImageError(f"cannot decode {shown(name)}: {reason}.") from error
    finally:
        timer.cancel()
        _give_back(worker, keep=keep and not late.is_set())


def _take() -> _Worker:
    with _lock:
        idle = _idle.setdefault(os.getpid(), [])
        while idle:
            worker = idle.pop()
            if worker.process.poll() is None:
                return worker
            worker.end()
    return _Worker()


def _give_back(worker: _Worker, *, keep: bool) -> None:
    with _lock:
        idle = _idle.setdefault(os.getpid(), [])
        if keep and len(idle) < MOST_IDLE:
            idle.append(worker)
            return
    worker.end()


def _can_start() -> bool:
    """Whether another Python can be started: a frozen program would start itself."""
    return bool(sys.executable) and not getattr(sys, "frozen", False)


@atexit.register
def _end_all() -> None:
    for worker in _idle.pop(os.getpid(), []):
        worker.end()
