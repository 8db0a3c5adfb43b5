"""The values of options that are written as text: settings, numbers of views, seeds, labels."""

import ast
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import UsageError

if TYPE_CHECKING:
    from ..images.photo import ImageLimits
    from ..labels.texts import Labels
MOST_DIGITS = 18
"""Digits of a number that are read as one: Python refuses some thousand."""


def read_settings(settings: Sequence[str]) -> dict[str, object]:
    """The values of --set KEY=VALUE; a value is a Python literal, or else a word."""
    values: dict[str, object] = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals:
            raise UsageError(f"--set {setting!r} has no value; write --set KEY=VALUE.")
        try:
            values[key] = ast.literal_eval(value)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):  # the last two: of many brackets
            values[key] = value
    return values


def read_thresholds(thresholds: Sequence[str]) -> float | dict[str, float] | None:
    """The values of --threshold: one number for all labels, or LABEL=NUMBER for some."""
    try:
        if len(thresholds) == 1 and "=" not in thresholds[0]:
            return float(thresholds[0])
        pairs = [text.rpartition("=") for text in thresholds]
        if not all(equals for _, equals, _ in pairs):
            raise UsageError("--threshold is one number for all labels, or LABEL=NUMBER, repeated; give one of both.")
        return {label: float(value) for label, _, value in pairs} or None
    except ValueError:
        given = " ".join(thresholds)
        raise UsageError(f"--threshold is a probability such as 0.3 or dog=0.3; got {given!r}.") from None


def read_views(views: str) -> int | str:
    """The value of --views: a number, or a word such as "adaptive"."""
    digits = views.removeprefix("-")
    return int(views) if digits.isdecimal() and len(digits) <= MOST_DIGITS else views


def read_seeds(seeds: str) -> list[int]:
    """The value of --seeds: whole numbers separated by commas."""
    try:
        return [int(seed) for seed in seeds.split(",")]
    except ValueError as error:
        raise UsageError(f"--seeds are whole numbers separated by commas, such as 0,1,2; got {seeds!r}.") from error


def read_names(names: str) -> str | list[str]:
    """The value of --method or --model: one name, or several separated by commas."""
    found = [name.strip() for name in names.split(",")]
    if not all(found):
        raise UsageError(f"names are separated by single commas, such as zero,marginal; got {names!r}.")
    return found[0] if len(found) == 1 else found


def read_labels(labels: str | None, labels_file: Path | None, column: str | None = None) -> "Labels":
    """The labels of --labels (separated by commas) or of --labels-file; UsageError unless one of them is given."""
    from ..labels import files, names

    if column is not None and labels_file is None:
        raise UsageError("--labels-column names a column of --labels-file; give both.")
    if labels is not None and labels_file is None:
        return names.split_labels(_utf8(labels))
    if labels_file is not None and labels is None:
        return files.read_labels(labels_file, column=column)
    raise UsageError('give the labels to choose from, either --labels "cat,dog,rocket" or --labels-file FILE.')


def _utf8(labels: str) -> str:
    """The labels as UTF-8 whatever the locale, as a labels file is: the tokenizer takes no other characters."""
    try:
        return os.fsencode(labels).decode("utf-8")
    except UnicodeError as error:
        raise UsageError(f"--labels is not UTF-8 text: {error}.") from error


def read_limits(max_pixels: int | None, max_bytes: int | None) -> "ImageLimits":
    """The limits of --max-pixels and --max-bytes; those that are left out are the usual ones."""
    from ..images.photo import ImageLimits

    given = {"max_pixels": max_pixels, "max_bytes": max_bytes}
    return ImageLimits(**{name: value for name, value in given.items() if value is not None})
