"""What there is to doubt about a set of labels."""

import logging

import pytest

from viewvote import Classifier
from viewvote.labels.doubts import label_doubts


def test_ordinary_labels_leave_nothing_to_doubt() -> None:
    assert label_doubts(["cat", "dog", "other animal", "C", "C++"]) == []


def test_a_single_label_is_the_answer_to_every_photo_unless_none_can_be() -> None:
    (doubt,) = label_doubts(["dog"])
    assert doubt.startswith("'dog' is the only label, so it is the answer to every photo.")
    assert "--none" in doubt
    assert label_doubts(["dog"], none_of_these=True) == []
    assert label_doubts(["dog"], multi_label=True) == []
    assert len(label_doubts(["dog"], named=False)) == 1


def test_nonsense_is_named_with_the_way_out() -> None:
    (doubt,) = label_doubts(["xkqj zwv", "dog", "asdf", "wrtpsdf", "???"])
    assert doubt.startswith("no word can be read in 'xkqj zwv', 'asdf', 'wrtpsdf', ...: ")
    assert "--none" in doubt
    (doubt,) = label_doubts(["asdf", "dog"], none_of_these=True)
    assert "--none" not in doubt
    assert label_doubts(["asdf", "dog"], named=False) == []


@pytest.mark.parametrize("label", ["other", "None", "N/A", "unknown", "none of the above", "something_else"])
def test_a_label_for_none_of_them_names_nothing(label: str) -> None:
    (doubt,) = label_doubts(["dog", label])
    assert doubt.startswith(f"{label!r} names nothing that a photo shows")


def test_labels_that_differ_in_spelling_only_are_one() -> None:
    (doubt,) = label_doubts(["polka dot", "cat", "Polka-dot"])
    assert doubt.startswith("'polka dot' and 'Polka-dot' differ in spelling only")
    assert label_doubts(["missile", "missile"]) == []  # equal names were asked for: unique_labels=False


def test_a_classifier_warns_once_and_answers(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="viewvote"):
        Classifier("pocket", labels=["asdf qwerty", "dog"], n_views=1)
        assert [message[:35] for message in caplog.messages] == ["no word can be read in 'asdf qwerty"]
        caplog.clear()
        Classifier("toy", labels=["red"], n_views=1)
        assert [message[:24] for message in caplog.messages] == ["'red' is the only label,"]
        caplog.clear()
        Classifier("pocket", labels=["dog"], n_views=1, none_of_these=True)
        Classifier("pocket", labels={"asdf": ["a cat"], "dog": ["a dog"]}, n_views=1)
        assert caplog.messages == []


def test_a_warning_fits_on_a_screen_whatever_the_labels() -> None:
    (doubt,) = label_doubts(["xkqjzwv" * 10_000, "dog"])
    assert len(doubt) < 400
