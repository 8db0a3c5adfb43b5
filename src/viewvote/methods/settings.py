"""A method from its name and hyper-parameters, as a command line or a spec file gives them."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, cast

from ..errors import UsageError
from ..registry import unknown_name
from . import METHODS, Method


def settings_of(name: str) -> tuple[str, ...]:
    """The names of a method's hyper-parameters."""
    cls: Any = METHODS.get(name)
    return tuple(field.name for field in fields(cls))


def build_method(name: str, settings: Mapping[str, object]) -> Method:
    """The method with these hyper-parameters; lists become tuples, as the methods hold them."""
    cls: Any = METHODS.get(name)
    known = settings_of(name)
    for key in settings:
        if key not in known:
            raise unknown_name("setting", key, known or ["none"], of=f"method {name!r}")
    try:
        return cast("Method", cls(**{key: tuple(v) if isinstance(v, list) else v for key, v in settings.items()}))
    except TypeError as error:
        raise UsageError(f"method {name!r} does not take these settings: {error}.") from error
