"""Errors in the words of the command line: an argument of Python is called by the option of the command that has it."""

import re
from collections.abc import Callable
from inspect import signature
from typing import get_args

from typer.models import OptionInfo

OTHER_NAMES = {"n_views": "views", "none_of_these": "none", "thresholds": "threshold"}
"""Arguments of Python whose option has another name."""

GIVEN = re.compile(r"""(?<![\w?&"'.=-])(?<!--set )([a-z]\w*)=("[^"]*"|'[^']*'|\w(?:[\w./-]*\w)?)""")  # n_views=8
NAMED = re.compile(r"`([a-z]\w*)`")
SUBJECT = re.compile(r"^([a-z]\w*)(?= (?:must|is|belongs) )")  # keep must be above 0 ...


def in_options(message: str, command: Callable[..., object]) -> str:
    """The message with the arguments that the command has options for written as these: n_views=8 is --views 8."""
    options = options_of(command)

    def given(found: re.Match[str]) -> str:
        option, value = options.get(found[1]), found[2].strip("\"'")
        if option is None or value in ("False", "None"):
            return found[0]
        return option if value == "True" else f"{option} {value}"

    def named(found: re.Match[str]) -> str:
        return options.get(found[1], found[0])

    return SUBJECT.sub(named, NAMED.sub(named, GIVEN.sub(given, message)))


def options_of(command: Callable[..., object]) -> dict[str, str]:
    """The options of a command, such as --views, by their names in Python, such as n_views."""
    found = {}
    for name, parameter in signature(command).parameters.items():
        for info in get_args(parameter.annotation)[1:]:
            if isinstance(info, OptionInfo):
                spelled = [each for each in (info.default, *(info.param_decls or ())) if str(each).startswith("--")]
                found[name] = str(spelled[0]) if spelled else "--" + name.replace("_", "-")
    return found | {other: found[name] for other, name in OTHER_NAMES.items() if name in found}
