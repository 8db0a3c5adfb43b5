"""The map from the paper names what is there."""

import re
from functools import reduce
from importlib import import_module
from pathlib import Path

import pytest

import viewvote

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "paper-map.md").read_text(encoding="utf-8")
NAMED = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", PAGE)
FUNCTIONS = re.findall(r"`((?:\w+\.)+\w+)(?:\([^`]*\))?`", PAGE)


@pytest.mark.parametrize(("file", "test"), sorted(set(NAMED)))
def test_every_test_it_names_exists(file, test):
    source = (ROOT / file).read_text(encoding="utf-8")
    assert f"def {test}(" in source if test else "def test_" in source


def inside(owner, name):
    """What a package, module or class calls so; a dataclass's field may have no value there."""
    if name in getattr(owner, "__dataclass_fields__", {}) or hasattr(owner, name):
        return getattr(owner, name, None)
    return import_module(f"{owner.__name__}.{name}")


@pytest.mark.parametrize("name", sorted(set(FUNCTIONS)))
def test_every_function_it_names_exists(name):
    reduce(inside, name.split("."), viewvote)
