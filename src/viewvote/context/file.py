"""A context as a JSON file: numbers and names only, checked on reading."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

import numpy as np

from .. import files, reading
from ..errors import UsageError
from .base import Context, Estimator

FORMAT = "viewvote-context-1"
MOST_OFFSET = 1e4
_TEXTS = ("labels", "model", "fingerprint")
_NUMBERS = ("effective", "share")


def write_context(context: Context, path: Path) -> None:
    """Write the file that `read_context` reads."""
    text = json.dumps({"format": FORMAT, **_to_values(context)}, indent=1) + "\n"
    try:
        files.write_whole(path, text)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}.") from error


def read_context(path: Path) -> Context:
    """The context in a file of `viewvote context`; anything else raises UsageError that names what is wrong."""
    data = reading.read_json(path, error=UsageError)
    if data.get("format") != FORMAT:
        raise UsageError(f"{path} is no file of `viewvote context`: format is {data.get('format')!r}, not {FORMAT!r}.")
    return _from_values(data, source=str(path))


def _to_values(context: Context) -> dict[str, Any]:
    values = vars(context) | {"offsets": [float(str(offset)) for offset in context.offsets]}
    return values | {"teacher": None if context.teacher is None else _to_values(context.teacher)}


def _from_values(data: Mapping[str, Any], *, source: str, nested: bool = False) -> Context:
    def fail(name: str, expected: str) -> UsageError:
        return UsageError(f"{source}: {name!r} is {str(data.get(name))[:80]!r}, expected {expected}.")

    for name in _TEXTS:
        if not isinstance(data.get(name), str):
            raise fail(name, "a text")
    for name in _NUMBERS:
        if not _is_number(data.get(name)) or data[name] < 0:
            raise fail(name, "a number of at least 0")
    if isinstance(data.get("n"), bool) or not isinstance(data.get("n"), int) or data["n"] < 0:
        raise fail("n", "a whole number of at least 0")
    if data.get("estimator") not in get_args(Estimator):
        raise fail("estimator", f"one of {', '.join(get_args(Estimator))}")
    if not isinstance(data.get("note"), str | None):
        raise fail("note", "a text or null")
    offsets, teacher = data.get("offsets"), data.get("teacher")
    if not isinstance(offsets, list) or not offsets or not all(map(_is_number, offsets)):
        raise fail("offsets", f"a list of numbers up to {MOST_OFFSET:g}, one for each label")
    if teacher is not None and (nested or not isinstance(teacher, dict)):
        raise fail("teacher", "null" if nested else "an object or null")
    return Context(
        offsets=np.array(offsets, dtype=np.float32),
        teacher=None if teacher is None else _from_values(teacher, source=f"{source}, teacher", nested=True),
        **{name: data[name] for name in ("n", "effective", "share", "estimator", "labels", "model", "fingerprint")},
        note=data.get("note"),
    )


def _is_number(value: object) -> bool:
    """Whether this is a finite number of a size that logits can have."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= MOST_OFFSET
