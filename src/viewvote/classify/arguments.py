"""The kinds of objects that a classifier is made of: a wrong one is named before anything is loaded."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from numbers import Real
from os import PathLike
from typing import Any

from ..encoders import LoadOptions
from ..errors import UsageError
from ..fields import shown
from ..images.photo import ImageLimits
from ..probability import ProbabilityFit


@dataclass(frozen=True)
class Expected:
    """What an argument must be, in words and as types."""

    words: str
    types: tuple[Any, ...]


NOTHING = type(None)
_PATH = (str, PathLike)
_TRUTH = Expected("True or False", (bool,))
_EXPECTED = {
    "labels": Expected("a list of strings", (Iterable,)),
    "keep": Expected("a number", (Real, NOTHING)),
    "templates": Expected("a template, the name of a set of them, or a list of templates", (str, Iterable, NOTHING)),
    "abstain_below": Expected("a probability", (Real,)),
    "calibration": Expected("a file's path or a ProbabilityFit", (*_PATH, ProbabilityFit, NOTHING)),
    "options": Expected("LoadOptions", (LoadOptions, NOTHING)),
    "limits": Expected("ImageLimits", (ImageLimits, NOTHING)),
    "cache_dir": Expected("a folder's path", (*_PATH, NOTHING)),
    "augment": Expected("a text", (str,)),
    "unique_labels": _TRUTH,
    "evidence": _TRUTH,
    "detail": _TRUTH,
    "stop": Expected("a text", (str, NOTHING)),
    "text_head": Expected("a file's path", (*_PATH, NOTHING)),
    "build_head": Expected("a function", (Callable,)),
}


def check_types(**given: object) -> None:
    """Raise UsageError for the first argument that is no object of the kind it must be."""
    for name, value in given.items():
        expected = _EXPECTED[name]
        wrong_truth = isinstance(value, bool) and bool not in expected.types
        if wrong_truth or not isinstance(value, expected.types):
            raise UsageError(f"{name} must be {expected.words}; got {shown(value)}.")
