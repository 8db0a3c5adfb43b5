"""A Classifier's arguments, checked: each function returns the value to use or raises UsageError."""

import os
from collections.abc import Iterable, Iterator
from typing import TypeVar

from PIL import Image

from ..checks import checked_keep
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
