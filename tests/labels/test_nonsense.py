"""Labels in which no word can be read."""

from math import log

import pytest

from viewvote.datasets.catalog import class_list, class_list_names
from viewvote.labels import nonsense
from viewvote.labels.nonsense import is_nonsense, sound


@pytest.mark.parametrize("label", ["asdf qwerty", "xkqj zwv", "hjkl", "wrtpsdf", "aaaa", "zzz", "???", "-", "qzxvk"])
def test_letters_struck_at_random_and_signs_alone_are_nonsense(label: str) -> None:
    assert is_nonsense(label)


@pytest.mark.parametrize(
    "label",
    [
        "dog",
        "Dog",
        "emu",
        "a dog xkqjzwv",  # the dog can be read
        "Kuvasz",  # strange, but a name that ships
        "2012 BMW X3 SUV",
        "GMC",
        "707-320",
        "7",
        "кошка",  # another script: another warning
        "Zürich xkqj",
        "polka-dotted",
        "C++",
    ],
)
def test_names_numbers_and_acronyms_are_not(label: str) -> None:
    assert not is_nonsense(label)


def test_no_name_of_the_class_lists_that_ship_is_nonsense() -> None:
    names = {name for group in class_list_names() for name in class_list(group).names}
    assert len(names) > 2000
    assert [name for name in sorted(names) if is_nonsense(name)] == []


def test_a_word_sounds_as_its_letters_follow_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    # Two whole pieces; "##abc" and "abc" (too short) do not count.
    monkeypatch.setattr(nonsense, "_pieces", lambda: frozenset({"abab", "abba", "##abc", "abc"}))
    nonsense._letters.cache_clear()
    try:
        # Letters and ends that follow: abab$ abba$ have 4 a, 4 b, 2 ends. Each level backs the next with a weight of 5.
        a, end = (4 + 5 / 27) / 15, (2 + 5 / 27) / 15
        a_first = (2 + 5 * a) / (2 + 5)  # after a word's start come two a
        a_first = (2 + 5 * a_first) / (2 + 5)
        # After a: abab has ab, ab; abba has ab, a$: so one end of four.
        end_after_a = (1 + 5 * end) / (4 + 5)
        end_after_start_a = (0 + 5 * end_after_a) / (2 + 5)
        assert sound("a") == pytest.approx((log(a_first) + log(end_after_start_a)) / 2)
    finally:
        nonsense._letters.cache_clear()


def test_a_word_without_end_is_read_no_further_than_it_need_be() -> None:
    assert is_nonsense("xkqjzwv" * 100_000)
    assert not is_nonsense("dog" * 100_000 + " house")
