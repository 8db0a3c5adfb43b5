"""Brace expansion as shells and WebDataset know it: shards/{000..127}.tar, {train,val}.csv."""

import re
from collections.abc import Iterator

_GROUP = re.compile(r"\{([^{}]*)\}")
_RANGE = re.compile(r"(\d+)\.\.(\d+)")


def has_braces(text: str) -> bool:
    """Whether `expand` would replace anything."""
    return any(_is_choice(group[1]) for group in _GROUP.finditer(text))


def expand(text: str) -> Iterator[str]:
    """The texts that the first braces stand for, each expanded further; numbers keep the width they are written with.

    >>> list(expand("{08..10}.tar"))
    ['08.tar', '09.tar', '10.tar']
    """
    group = next((found for found in _GROUP.finditer(text) if _is_choice(found[1])), None)
    if group is None:
        yield text
        return
    for choice in _choices(group[1]):
        for rest in expand(text[group.end() :]):
            yield text[: group.start()] + choice + rest


def _is_choice(inside: str) -> bool:
    return "," in inside or _RANGE.fullmatch(inside) is not None


def _choices(inside: str) -> Iterator[str]:
    bounds = _RANGE.fullmatch(inside)
    if bounds is None:
        yield from inside.split(",")
        return
    first, last = int(bounds[1]), int(bounds[2])
    padded = any(len(bound) > 1 and bound.startswith("0") for bound in bounds.groups())
    width = max(map(len, bounds.groups())) if padded else 0
    step = 1 if first <= last else -1
    for number in range(first, last + step, step):
        yield f"{number:0{width}d}"
