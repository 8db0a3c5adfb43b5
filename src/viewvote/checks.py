"""Checks of arguments that several rooms take."""

import operator

from .errors import UsageError


def checked_whole(value: object, *, name: str, least: int | None = None, instead: str = "") -> int:
    """The whole number, NumPy's among them; UsageError for a fraction, a text, a truth value or one below `least`."""
    number = None if isinstance(value, bool) or not hasattr(value, "__index__") else operator.index(value)
    if number is None or (least is not None and number < least):
        bound = "" if least is None else f" of at least {least}"
        raise UsageError(f"{name} must be a whole number{bound}{instead}; got {value!r}.")
    return number


def checked_keep(keep: float) -> float:
    """The share of views that are kept; UsageError unless it is above 0 and at most 1."""
    if not 0 < keep <= 1:
        raise UsageError(f"keep must be above 0 and at most 1 (the share of views that vote); got {keep}.")
    return keep


def checked_share(value: float, *, name: str) -> float:
    """The number; UsageError unless it is between 0 and 1."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise UsageError(f"{name} must be between 0 and 1; got {value!r}.")
    return float(value)
