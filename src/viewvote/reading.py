"""Reading the files that people name: regular ones only, of a limited size, and what JSON and TOML make of them.

Whatever is wrong with a file is an error of the caller's kind that names it: nothing here waits for a pipe, reads
without end from a device, or goes deeper into brackets than Python can.
"""

import errno
import json
import os
import stat
import tomllib
from pathlib import Path
from typing import Any, BinaryIO

from .errors import ViewvoteError

TEXT_BYTES = 64_000_000
"""The most that a text is read of: the largest tokenizers have half of it."""

LIST_BYTES = 512_000_000
"""The most of a list of images: ten million lines."""

TOML_DEPTH = 20


def open_regular(path: str | Path) -> BinaryIO:
    """The file, opened for reading; raises OSError, also for a name that no file can have, a pipe or a device."""
    try:
        # Without O_NONBLOCK, opening a pipe waits for its other end.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except ValueError as error:  # a NUL, or a character that file names cannot have
        raise OSError(errno.EINVAL, "no file can have this name") from error
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return os.fdopen(descriptor, "rb")
    is_folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
    os.close(descriptor)
    raise OSError(errno.EINVAL, "it is a folder" if is_folder else "it is not a regular file")


def read_bytes(path: str | Path, *, error: type[ViewvoteError], what: str = "", limit: int = TEXT_BYTES) -> bytes:
    """The file's bytes; one that cannot be read, or has more than `limit`, raises `error`. `what` it is, in words."""
    name = f"{what} {path}".strip()
    try:
        with open_regular(path) as file:
            data = file.read(limit + 1)
    except OSError as problem:
        raise error(f"cannot read {name}: {reason(problem)}.") from problem
    if len(data) > limit:
        raise error(f"{name} has more than {limit:,} bytes, which is more than such a file needs.")
    return data


def read_text(path: str | Path, *, error: type[ViewvoteError], what: str = "", limit: int = TEXT_BYTES) -> str:
    """The file's text, which must be UTF-8, without a mark of the byte order; line breaks are as they are."""
    try:
        return read_bytes(path, error=error, what=what, limit=limit).decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise error(f"{what} {path} is not UTF-8 text: {problem}.".strip()) from problem


def read_json(path: str | Path, *, error: type[ViewvoteError], what: str = "") -> dict[str, Any]:
    """The JSON object in a file; one that cannot be read, or holds something else, raises `error`."""
    data = parse_json(read_text(path, error=error, what=what), source=str(path), error=error)
    if not isinstance(data, dict):
        raise error(f"{path} must hold a JSON object, found {type(data).__name__}.")
    return data


def parse_json(text: str | bytes, *, source: str, error: type[ViewvoteError]) -> Any:
    """The value of a JSON text; `source` names it in errors."""
    try:
        return json.loads(text)
    except RecursionError:
        raise error(f"{source} is nested too deeply.") from None
    except ValueError as problem:
        raise error(f"{source} is not valid JSON: {problem}.") from problem


def read_toml(path: str | Path, *, error: type[ViewvoteError], what: str = "") -> dict[str, Any]:
    """The values of a TOML file; one that cannot be read, or is no TOML, raises `error`."""
    return parse_toml(read_text(path, error=error, what=what), source=str(path), error=error)


def parse_toml(text: str, *, source: str, error: type[ViewvoteError]) -> dict[str, Any]:
    """The values of a TOML text; `source` names it in errors."""
    try:
        values = tomllib.loads(text)
    except RecursionError:
        raise error(f"{source} is nested too deeply.") from None
    except ValueError as problem:
        raise error(f"{source} is not TOML: {problem}.") from problem
    level: list[Any] = [values]
    for _ in range(TOML_DEPTH):
        level = [inner for one in level for inner in (one.values() if isinstance(one, dict) else one)]
        level = [inner for inner in level if isinstance(inner, dict | list)]
        if not level:
            return values
    raise error(f"{source} is nested more than {TOML_DEPTH} levels deep, which nothing here is.")


def reason(problem: OSError) -> str:
    """Why the system refused, in words."""
    return problem.strerror or str(problem)
