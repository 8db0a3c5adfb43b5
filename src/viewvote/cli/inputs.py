"""What the user means by IMAGE, FOLDER, GLOB and -, and by --labels and --labels-file."""

import ast
import glob
import os
import stat
import sys
from collections import deque
from collections.abc import Iterable, Sequence
from pathlib import Path

from ..errors import UsageError
from .edge import complain

STDIN = "-"


def expand(arguments: Sequence[str]) -> list[str]:
    """The image files that the arguments name, in order and without repeats; "-" stands for an image on stdin."""
    found: dict[str, None] = {}
    for argument in arguments:
        found.update(dict.fromkeys(_expand_one(argument)))
    return list(found)


def _expand_one(argument: str) -> Iterable[str]:
    if argument == STDIN:
        return [argument]
    try:
        if stat.S_ISDIR(os.stat(argument).st_mode):  # noqa: PTH116 - Path("") would be the folder one is in
            return _images_below(argument)
    except OSError as error:
        if glob.has_magic(argument):
            return _matches(argument)
        if isinstance(error, (FileNotFoundError, NotADirectoryError)):
            raise UsageError(f"no such file or folder: {argument or repr(argument)}") from error
        raise UsageError(f"cannot look at {argument}: {error.strerror or error}.") from error
    return [argument]  # also a pipe, as of <(curl ...)


def _images_below(folder: str) -> list[str]:
    """The images anywhere below a folder. Links are followed, each real folder once: under its own name if it has one.

    A folder inside that cannot be searched is told of and left out.
    """
    from ..images.photo import EXTENSIONS

    def left_out(error: OSError) -> None:
        if error.filename == folder:
            raise error
        complain(f"cannot look at {error.filename}: {error.strerror}; it is left out.")

    found: list[str] = []
    seen: set[str] = set()
    waiting = deque([folder])  # links wait until all real folders have been seen
    while waiting:
        for directory, inner, files in os.walk(waiting.popleft(), onerror=left_out):
            real = os.path.realpath(directory)
            if real in seen:
                inner.clear()
                continue
            seen.add(real)
            here = Path(directory)
            waiting.extend(str(here / name) for name in sorted(inner) if (here / name).is_symlink())
            images = [here / name for name in files if Path(name).suffix.lower() in EXTENSIONS]
            found += [str(path) for path in images if os.path.isfile(path)]  # noqa: PTH113 - Path.is_file may raise
    if not found:
        raise UsageError(f"folder {folder} holds no images (looked for {' '.join(sorted(EXTENSIONS))}).")
    return sorted(found)


def _matches(pattern: str) -> list[str]:
    """The files that a pattern names; the older module serves here, for Path.glob refuses absolute patterns."""
    found = glob.glob(pattern, recursive=True)  # noqa: PTH207
    matches = sorted(match for match in found if os.path.isfile(match))  # noqa: PTH113 - Path.is_file may raise
    if not matches:
        raise UsageError(f"pattern {pattern} matches no file.")
    return matches


def read_stdin() -> bytes:
    """The image that was piped in; of one over the limit no more than shows that it is."""
    from ..images.photo import ImageLimits

    if sys.stdin is None or sys.stdin.isatty():
        raise UsageError("'-' reads an image from standard input, but nothing is piped in.")
    return sys.stdin.buffer.read(ImageLimits().max_bytes + 1)


def read_settings(settings: Sequence[str]) -> dict[str, object]:
    """The values of KEY=VALUE texts; a value is a Python literal, or else a word."""
    values: dict[str, object] = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals:
            raise UsageError(f"--set {setting!r} has no value; write --set KEY=VALUE.")
        try:
            values[key] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            values[key] = value
    return values


def read_views(views: str) -> int | str:
    """What --views says: a number, or "adaptive"."""
    return int(views) if views.removeprefix("-").isdecimal() else views


def read_labels(labels: str | None, labels_file: Path | None) -> list[str]:
    """The labels of --labels (separated by commas) or of --labels-file (one a line)."""
    if (labels is None) == (labels_file is None):
        raise UsageError('give the labels to choose from, either --labels "cat,dog,rocket" or --labels-file FILE.')
    if labels is not None:
        return [label.strip() for label in labels.split(",") if label.strip()]
    try:
        text = Path(labels_file or "").read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UsageError(f"cannot read the labels file {labels_file}: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"the labels file {labels_file} is not UTF-8 text: {error}.") from error
    return [line.strip() for line in text.splitlines() if line.strip()]
