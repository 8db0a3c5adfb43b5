"""Labels that a model cannot read."""

import logging

import pytest

from viewvote import Classifier
from viewvote.labels.scripts import script_warning, unreadable_labels


@pytest.mark.parametrize(
    ("label", "readable"),
    [
        ("cat", True),
        ("São Paulo", True),
        ("naïve ﬁsh, 3 × 4 (µm)", False),  # the micro sign is no Latin letter
        ("24/7 & more!", True),
        ("кошка", False),
        ("猫", False),
        ("قطة", False),
        ("cat 猫", False),
        ("Ωmega", False),
    ],
)
def test_a_label_is_readable_where_all_its_letters_are_of_the_scripts(label: str, readable: bool) -> None:
    assert unreadable_labels([label], ["latin"]) == ([] if readable else [label])


def test_several_scripts_may_be_read() -> None:
    assert unreadable_labels(["кошка", "cat", "猫"], ["latin", "cyrillic"]) == ["猫"]


def test_the_warning_names_a_few_and_a_model_that_says_nothing_gets_none() -> None:
    labels = ["猫", "犬", "鳥", "馬", "cat"]
    found = script_warning(labels, ["latin"], model="pocket")
    assert found is not None
    assert "'猫', '犬', '鳥', ... will be guessed" in found
    assert script_warning(labels, (), model="multilingual") is None
    assert script_warning(["cat"], ["latin"], model="pocket") is None


def test_the_embedded_model_warns_and_answers(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="viewvote"):
        Classifier("pocket", labels=["cat", "dog"], n_views=1)
        assert caplog.messages == []
        Classifier("pocket", labels=["кошка", "dog"], n_views=1)
    (message,) = caplog.messages
    assert message.startswith("pocket reads labels in latin letters only")
