"""Checks of arguments that several rooms take."""

import operator
from numbers import Real
from typing import cast

from .errors import UsageError
from .fields import shown

MOST_VIEWS = 4096
"""The most views of an image: one of 224 pixels has 600 MB of them. The paper has 64."""


def checked_whole(
    value: object, *, name: str, least: int | None = None, most: int | None = None, instead: str = ""
) -> int:
    """The whole number, NumPy's among them.

    Raises UsageError for a fraction, a text, a truth value, and a number below `least` or above `most`.
    """
    number = None if isinstance(value, bool) or not hasattr(value, "__index__") else operator.index(value)
    if number is None or (least is not None and number < least) or (most is not None and number > most):
        bound = "" if least is None else f" of at least {least}"
        bound += "" if most is None else f" and at most {most:,}"
        raise UsageError(f"{name} must be a whole number{bound}{instead}; got {shown(value)}.")
    return number


def checked_keep(keep: object) -> float:
    """The share of views that are kept; UsageError unless it is above 0 and at most 1."""
    if isinstance(keep, bool) or not isinstance(keep, Real) or not 0 < cast("float", keep) <= 1:
        raise UsageError(f"keep must be above 0 and at most 1 (the share of views that vote); got {shown(keep)}.")
    return cast("float", keep)


def checked_share(value: float, *, name: str) -> float:
    """The number; UsageError unless it is between 0 and 1."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise UsageError(f"{name} must be between 0 and 1; got {value!r}.")
    return float(value)
