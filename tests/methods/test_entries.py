"""What reports know of a method without importing it is what the method itself does."""

from dataclasses import dataclass, fields
from importlib.util import find_spec

import pytest

from viewvote.methods import METHODS, MethodEntry, StreamingMethod, method_entry
from viewvote.methods.baselines import ZeroShot
from viewvote.registry import Registry


@pytest.mark.parametrize("name", sorted(METHODS))
def test_the_entry_of_a_method_has_its_default_keep_and_whether_it_streams(name):
    entry = METHODS.entry(name)
    if entry.extra == "torch" and not find_spec("torch"):
        pytest.skip("needs the torch extra")
    cls = METHODS.get(name)
    keep = next((each.default for each in fields(cls) if each.name == "keep"), None)
    assert isinstance(entry, MethodEntry)
    assert (entry.keep, entry.streams) == (keep, isinstance(cls(), StreamingMethod))
    assert method_entry(name) == entry


@dataclass(frozen=True)
class Mine(ZeroShot):
    keep: float = 0.25

    def start(self):
        raise NotImplementedError


def test_of_a_method_registered_by_others_the_data_are_read_off_its_class(monkeypatch):
    registry = Registry("method", {})
    registry.register("mine", Mine, summary="a test")
    monkeypatch.setattr("viewvote.methods.METHODS", registry)
    assert method_entry("mine") == MethodEntry("", "a test", keep=0.25, streams=True)


def test_of_a_method_that_is_not_loaded_nothing_is_known():
    assert method_entry("somebody-elses") == MethodEntry("", "")
