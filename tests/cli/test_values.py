"""Options that are written as text."""

import pytest

from viewvote.cli.values import read_labels, read_seeds, read_settings, read_views
from viewvote.errors import UsageError


@pytest.mark.parametrize(
    ("views", "found"), [("64", 64), ("-5", -5), ("--5", "--5"), ("-", "-"), ("adaptive", "adaptive")]
)
def test_views_are_a_number_or_a_word(views, found):
    assert read_views(views) == found


def test_settings_are_python_literals_or_words():
    given = ["keep=0.5", "tie=max-logit", "pair=(1, 2)", "name='a=b'", "nothing="]
    expected = {"keep": 0.5, "tie": "max-logit", "pair": (1, 2), "name": "a=b", "nothing": ""}
    assert read_settings(given) == expected
    with pytest.raises(UsageError, match="write --set KEY=VALUE"):
        read_settings(["tie"])


def test_seeds_are_whole_numbers_separated_by_commas():
    assert read_seeds("0, 1,-2") == [0, 1, -2]
    for wrong in ("", "a", "1.5", "0,"):
        with pytest.raises(UsageError, match="whole numbers separated by commas"):
            read_seeds(wrong)


def test_labels_come_from_the_option_or_from_the_file_and_never_from_both(tmp_path):
    file = tmp_path / "labels.txt"
    file.write_text("cat\n", encoding="utf-8")
    assert read_labels("dog, cat", None) == ["dog", "cat"]
    assert read_labels(None, file) == ["cat"]
    for labels, labels_file in ((None, None), ("dog", file)):
        with pytest.raises(UsageError, match="either --labels"):
            read_labels(labels, labels_file)


@pytest.mark.parametrize("value", ["{[]:1}", "[" * 10_000, "(" * 100, "1" * 5000, "{1:", "\0"])
def test_a_setting_that_is_no_python_is_a_word(value):
    assert read_settings([f"keep={value}"]) == {"keep": value}


def test_views_of_more_digits_than_any_number_has_are_no_number():
    assert read_views("9" * 5000) == "9" * 5000
    assert read_views("100000000") == 10**8
