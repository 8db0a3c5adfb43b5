"""A Classifier's arguments, checked: each function returns the value to use or says what is wrong with it."""

import operator
import os
from collections.abc import Iterable
from typing import Final, Literal, TypeVar

import numpy as np
from PIL import Image

from ..errors import UsageError
from ..labels.names import checked_labels as checked_labels
from ..methods import METHODS, Method, StreamingMethod, TrainingFreeMethod, TuningMethod, VotingMethod
from ..methods.settings import build_method, settings_of
from ..registry import unknown_name
from ..stopping import Adaptive, Exact, StoppingRule
from ..views.sample import Keyed
from ..vote import checked_keep

ADAPTIVE: Final = "adaptive"
EXACT: Final = "exact"

T = TypeVar("T")


def checked_whole(value: object, *, name: str, least: int | None = None, instead: str = "") -> int:
    """The whole number, NumPy's among them; a fraction, a text, a truth value or one below `least` is an error."""
    number = None if isinstance(value, bool) or not hasattr(value, "__index__") else operator.index(value)
    if number is None or (least is not None and number < least):
        bound = "" if least is None else f" of at least {least}"
        raise UsageError(f"{name} must be a whole number{bound}{instead}; got {value!r}.")
    return number


def checked_images(images: Iterable[T]) -> Iterable[T]:
    """The images; a single one is an error, as going through it would give characters, bytes or rows of pixels."""
    one = isinstance(images, (str, bytes, bytearray, memoryview, os.PathLike, Image.Image, Keyed))
    if isinstance(images, np.ndarray):
        one = images.ndim < 3 or (images.ndim == 3 and images.shape[-1] in (1, 3, 4))
    if one or hasattr(images, "read"):
        kind = type(images).__name__
        raise UsageError(f"this takes many images and got one ({kind}): give a list, [image], or call clf(image).")
    return images


def checked_method(method: str | Method, keep: float | None) -> Method:
    """The method, with `keep` where it takes one."""
    if not isinstance(method, str):
        if keep is not None:
            raise UsageError("keep belongs to the method object: set it there.")
        return _method_object(method)
    if keep is None:
        return build_method(method, {})
    if "keep" not in settings_of(method):
        raise UsageError(f"method {method!r} uses no kept views, so it takes no keep.")
    return build_method(method, {"keep": checked_keep(keep)})


def _method_object(method: object) -> Method:
    """The method itself; UsageError for anything that is none."""
    if isinstance(method, type):
        raise UsageError(f"method is the class {method.__name__}; give an object of it: {method.__name__}().")
    if not isinstance(method, (TrainingFreeMethod, StreamingMethod, TuningMethod)):
        raise UsageError(
            f"method is of type {type(method).__name__}; expected a name ({', '.join(METHODS)}) or an object of a "
            "class that inherits TrainingFreeMethod, VotingMethod, StreamingMethod or TuningMethod (viewvote.methods)."
        )
    return method


def asked_views(
    views: int | str, *, stop: str | None = None, disagreement: float | None = None
) -> tuple[int | Adaptive, Literal["exact"] | None]:
    """A Classifier's `n_views` and `stop`: views is a number or "adaptive", stop "exact" or a calibration's file."""
    if isinstance(views, str) and views != ADAPTIVE:
        raise UsageError(f"views must be a number, or {ADAPTIVE}; got {views!r}.")
    budget = views if isinstance(views, int) else Adaptive().budget
    if stop == EXACT:
        if disagreement is not None:
            raise UsageError("stop exact never disagrees with the full budget; leave disagreement out.")
        return budget, EXACT
    if stop is None and isinstance(views, int):
        if disagreement is not None:
            raise UsageError("disagreement belongs to adaptive views: with a number, all of them are looked at.")
        return views, None
    given = {} if disagreement is None else {"disagreement": disagreement}
    return Adaptive(budget=budget, calibration=stop, **given), None


def checked_budget(n_views: int | str | Adaptive) -> int:
    """How many views an image may cost at most."""
    if isinstance(n_views, Adaptive):
        return n_views.budget
    if n_views == ADAPTIVE:
        return Adaptive().budget
    return checked_whole(n_views, name="n_views", least=1, instead=f', or "{ADAPTIVE}"')


def checked_stop(n_views: int | str | Adaptive, stop: str | None, *, method: Method) -> StoppingRule | None:
    """The rule that may end an image's rounds of views; None where all are always looked at."""
    budget = checked_budget(n_views)
    if stop not in (None, EXACT):
        raise unknown_name("stopping rule", stop, [EXACT])
    if stop is None and n_views != ADAPTIVE and not isinstance(n_views, Adaptive):
        return None
    if not isinstance(method, VotingMethod):
        raise UsageError(f"method {method.name!r} does not vote, so nothing says when to stop; give a number of views.")
    if stop is None:
        adaptive = n_views if isinstance(n_views, Adaptive) else Adaptive()
        return adaptive.rule(method.keep)
    if isinstance(n_views, Adaptive):
        raise UsageError('an Adaptive object and stop="exact" are two different rules; give one of them.')
    if not method.whole_votes:
        raise UsageError('stop="exact" counts whole votes; leave zero_temperature and compat at their defaults.')
    return Exact(budget, method.keep)
