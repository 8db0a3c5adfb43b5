"""Names are found lazily, and a wrong one gets a suggestion."""

import sys

import pytest

from viewvote.errors import UnknownNameError, UsageError
from viewvote.registry import Entry, Registry, unknown_name


@pytest.fixture
def registry():
    return Registry(
        "thing", {"ordered": Entry("collections:OrderedDict", "keeps order"), "wave": Entry("wave:open", "sound")}
    )


def test_a_name_is_imported_only_when_asked_for(registry):
    sys.modules.pop("wave", None)
    assert "wave" in registry
    assert registry.entry("wave").summary == "sound"
    assert "wave" not in sys.modules
    assert registry.get("wave").__module__ == "wave"
    assert registry.get("wave") is registry.get("wave")


def test_an_unknown_name_suggests_the_nearest_and_lists_all(registry):
    with pytest.raises(UnknownNameError) as caught:
        registry.get("orderd")
    assert str(caught.value) == "no thing 'orderd'. Did you mean 'ordered'? Known: ordered, wave."
    with pytest.raises(UnknownNameError, match=r"^no thing 'zzz'. Known"):
        registry.get("zzz")


def test_your_own_can_be_added_but_not_over_another(registry):
    registry.register("mine", int, summary="a number")
    assert registry.get("mine") is int
    assert list(registry) == ["mine", "ordered", "wave"]
    with pytest.raises(UsageError, match="exists already"):
        registry.register("wave", int, summary="")


def test_a_name_that_is_no_string_is_unknown_too():
    assert str(unknown_name("tie rule", 3, ["greedy"])) == "no tie rule 3. Known: greedy."
