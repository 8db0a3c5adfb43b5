"""A Classifier's arguments, checked: each function returns the value to use or raises UsageError."""

import os
from collections.abc import Iterable, Iterator
from typing import TypeVar

from PIL import Image

from ..checks import checked_keep
from ..encoders import Encoder
from ..errors import UsageError
from ..images.tensors import is_tensor
from ..methods import METHODS, Method, StreamingMethod, TrainingFreeMethod, TuningMethod
from ..methods.settings import build_method, settings_of
from ..views.sample import Keyed
from .features import Features

T = TypeVar("T")


def checked_image(image: T) -> T:
    """The image; several of them are an error that names what takes several."""
    several = isinstance(image, (list, tuple, set, frozenset, dict, Iterator, Features)) and not hasattr(image, "read")
    if several or getattr(image, "ndim", 0) > 3:
        kind = type(image).__name__
        raise UsageError(f"clf(image) takes one image and got a {kind}; for several, use clf.predict_many(images).")
    return image


def checked_images(images: Iterable[T]) -> Iterable[T]:
    """The images; a single one is an error, as going through it would give characters, bytes or rows of pixels."""
    one = isinstance(images, (str, bytes, bytearray, memoryview, os.PathLike, Image.Image, Keyed))
    shape = getattr(images, "shape", None)
    if isinstance(shape, tuple):
        one = len(shape) < 3 or (len(shape) == 3 and shape[0 if is_tensor(images) else -1] in (1, 3, 4))
    if one or hasattr(images, "read"):
        kind = type(images).__name__
        raise UsageError(f"this takes many images and got one ({kind}): give a list, [image], or call clf(image).")
    return images


AUTO = "auto"


def named_method(method: str, *, text_head: bool = False) -> str:
    """The name of the method; "auto" is the anchored vote.

    With a text head of the user's, whose likeness to ordinary names is not known, it is ZERO.
    """
    if method != AUTO:
        return method
    return "zero" if text_head else "anchored"


def checked_method(method: str | Method, keep: float | None, *, text_head: bool = False) -> Method:
    """The method, with `keep` where it takes one.

    `text_head` says whether the labels' vectors are the user's (`named_method`).
    """
    if not isinstance(method, str):
        if keep is not None:
            raise UsageError("keep belongs to the method object: set it there.")
        return _method_object(method)
    method = named_method(method, text_head=text_head)
    if keep is None:
        return build_method(method, {})
    if "keep" not in settings_of(method):
        raise UsageError(f"method {method!r} uses no kept views, so it takes no keep.")
    return build_method(method, {"keep": checked_keep(keep)})


def check_teacher(method: Method, teacher: str | Encoder | None) -> None:
    """Raise UsageError for a teacher that the method does not ask."""
    if teacher is not None and not method.asks_teacher:
        raise UsageError(f"method {method.name!r} asks no teacher; use 'zero', or leave the teacher out.")


def check_tuning(method: Method, encoder: Encoder, teacher: Encoder | None, *, named: bool) -> None:
    """Raise UsageError where the method tunes and cannot tune these models, or labels that are more than names."""
    if isinstance(method, TuningMethod):
        if not named:
            raise UsageError(f"method {method.name!r} tunes a prompt around names; give the labels as a list.")
        method.check(encoder, teacher)


def check_text_head(method: Method, *, asks_presence: bool) -> None:
    """Raise UsageError where the labels' own vectors are not enough for the method, or for what is asked beside it."""
    if isinstance(method, TuningMethod):
        raise UsageError(f"method {method.name!r} needs the text tower; it takes no text head.")
    if method.asks_likeness:
        raise UsageError(
            f"method {method.name!r} compares the labels with ordinary names, which a text head of yours does "
            "not hold; give it a weight, e.g. --set weight=1."
        )
    if asks_presence:
        raise UsageError("a text head holds the labels alone; whether any is there is told by other names too.")


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
