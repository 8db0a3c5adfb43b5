"""What the user means by IMAGE, FOLDER, GLOB and -, and by --labels and --labels-file."""

import ast
import glob
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ..errors import UsageError

if TYPE_CHECKING:
    from ..methods import Method

STDIN = "-"


def expand(arguments: Sequence[str]) -> list[str]:
    """The image files that the arguments name, in order and without repeats; "-" stands for an image on stdin."""
    found: dict[str, None] = {}
    for argument in arguments:
        found.update(dict.fromkeys(_expand_one(argument)))
    return list(found)


def _expand_one(argument: str) -> Iterable[str]:
    from ..images import EXTENSIONS

    path = Path(argument)
    if argument == STDIN or path.is_file():
        return [argument]
    if path.is_dir():
        inside = sorted(str(p) for p in path.rglob("*") if p.suffix.lower() in EXTENSIONS and p.is_file())
        if not inside:
            raise UsageError(f"folder {argument} holds no images (looked for {' '.join(sorted(EXTENSIONS))}).")
        return inside
    if glob.has_magic(argument):  # Path.glob refuses absolute patterns, so the older module serves here
        matches = sorted(match for match in glob.glob(argument, recursive=True) if Path(match).is_file())  # noqa: PTH207
        if not matches:
            raise UsageError(f"pattern {argument} matches no file.")
        return matches
    raise UsageError(f"no such file or folder: {argument}")


def read_stdin() -> bytes:
    """The image that was piped in."""
    if sys.stdin is None or sys.stdin.isatty():
        raise UsageError("'-' reads an image from standard input, but nothing is piped in.")
    return sys.stdin.buffer.read()


def read_method(name: str, settings: Sequence[str]) -> "Method":
    """The method with hyper-parameters given as KEY=VALUE; a value is a Python literal, or else a word."""
    from dataclasses import fields

    from ..methods import METHODS
    from ..registry import unknown_name

    cls: Any = METHODS.get(name)
    known = [field.name for field in fields(cls)]
    values: dict[str, object] = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals:
            raise UsageError(f"--set {setting!r} has no value; write --set KEY=VALUE.")
        if key not in known:
            raise unknown_name(f"setting of method {name!r}", key, known or ["none"])
        try:
            values[key] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            values[key] = value
    try:
        return cast("Method", cls(**values))
    except TypeError as error:
        raise UsageError(f"method {name!r} does not take these settings: {error}.") from error


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
