"""Files: writing one whole, walking trees of images, the cache folder, and what ships beside the code."""

import os
from collections import deque
from collections.abc import Callable, Collection, Iterator
from importlib.resources import files
from pathlib import Path

import platformdirs

from .errors import ModelNotFoundError


def write_whole(path: Path, data: str | bytes) -> None:
    """Put the data at `path` in one step, synced to disk: a crash leaves the old file or the new one.

    Text is written as UTF-8 with the line breaks it has. Raises OSError, and then leaves nothing behind.
    """
    _replace(path, data, sync=True)
    sync_folder(path.parent)


def write_best_effort(path: Path, data: str | bytes) -> None:
    """Put the data at `path` in one step, or do nothing where that cannot be written.

    For caches: missing folders are made, and nothing waits for the disk, so a power loss may cost the file.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _replace(path, data, sync=False)
    except OSError:
        return


def _replace(path: Path, data: str | bytes, *, sync: bool) -> None:
    """Write a file beside `path` under a name that no other writer has, then rename it."""
    part = path.with_name(f"{path.name[:50]}.{os.urandom(4).hex()}.part")  # no longer than names may be
    try:
        with part.open("xb") as file:
            file.write(data.encode() if isinstance(data, str) else data)
            if sync:
                file.flush()
                os.fsync(file.fileno())
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def opened_at_once(path: str, flags: int) -> int:
    """An `opener` of `open` that raises OSError where nobody reads a named pipe, instead of waiting for a reader."""
    descriptor = os.open(path, flags | getattr(os, "O_NONBLOCK", 0), 0o666)
    if os.name == "posix":
        os.set_blocking(descriptor, True)
    return descriptor


def sync_folder(folder: Path) -> None:
    """Make new names in a folder survive a power loss, where the system can."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def walk_images(
    folder: str | Path,
    *,
    endings: Collection[str] | None,
    hidden: bool = True,
    on_error: Callable[[OSError], None] | None = None,
) -> Iterator[str]:
    """The paths of the files anywhere below `folder` that have one of the endings, in no promised order.

    Links are followed and each real folder is visited once, under its own name if it has one below `folder`. The files
    themselves are not looked at: a path may be a broken link.

    Args:
        folder: Where to start; the paths start with it.
        endings: In small letters with the dot, such as ".jpg"; names may have either case. None is any file.
        hidden: Whether names that start with a dot count.
        on_error: Called with the error of every folder that cannot be listed; it may raise. None leaves them out.
    """
    seen: set[str] = set()
    waiting = deque([str(folder)])  # links wait until all real folders have been seen
    while waiting:
        for directory, inner, names in os.walk(waiting.popleft(), onerror=on_error):
            real = os.path.realpath(directory)
            if real in seen:
                inner.clear()
                continue
            seen.add(real)
            inner[:] = sorted(name for name in inner if hidden or not name.startswith("."))
            start = str(Path(directory, "_"))[:-1]  # "", "photos/" or "/": as Path would join them, but quicker
            waiting.extend(start + name for name in inner if os.path.islink(start + name))  # noqa: PTH114 - quick
            for name in names:
                ending = os.path.splitext(name)[1].lower()  # noqa: PTH122 - quick
                if (endings is None or ending in endings) and (hidden or not name.startswith(".")):
                    yield start + name


def default_cache_dir() -> Path:
    """Where viewvote keeps what can be made again; the environment variable VIEWVOTE_CACHE moves it."""
    return Path(os.environ.get("VIEWVOTE_CACHE") or platformdirs.user_cache_dir("viewvote", appauthor=False))


def shipped(folder: str) -> Path:
    """The folder `folder` inside the installed package, or at the root of a source checkout."""
    installed = Path(str(files("viewvote"))) / folder
    checkout = Path(__file__).parents[2] / folder
    found = next((place for place in (installed, checkout) if place.is_dir()), None)
    if found is None:
        raise ModelNotFoundError(f"{folder} is missing from this installation of viewvote; expected it at {installed}.")
    return found


def example_files() -> list[Path]:
    """The shipped photographs with their sources, labels to ask about them, and a table of right answers."""
    return sorted(path for path in shipped("examples").rglob("*") if path.is_file())


def example_photos() -> list[Path]:
    """The shipped photographs; their README names sources and terms."""
    return sorted(shipped("examples/photos").glob("*.jpg"))
