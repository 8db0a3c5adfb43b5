"""Labels as a list or in one text."""

import pytest

from viewvote.errors import UsageError
from viewvote.labels.names import checked_labels, split_labels


def test_a_text_is_split_at_its_commas_and_empty_parts_are_dropped():
    assert split_labels(" cat,dog , ,hot dog,") == ["cat", "dog", "hot dog"]
    assert split_labels(" , ") == []


def test_a_label_with_a_comma_stands_in_quotes():
    assert split_labels('cat, "salt, pepper",the "big" dog,5" pipe') == [
        "cat",
        "salt, pepper",
        'the "big" dog',
        '5" pipe',
    ]
    assert split_labels('"say ""hi""",dog') == ['say "hi"', "dog"]
    for text in ('cat,"dog', 'cat,"dog"s'):
        with pytest.raises(UsageError, match="quotation mark without its other one"):
            split_labels(text)


def test_labels_are_returned_as_they_are():
    assert checked_labels(["a cat", " b", "{}"]) == ("a cat", " b", "{}")
    assert checked_labels(["missile", "missile"], unique=False) == ("missile", "missile")


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ("cat", r"Did you mean \['cat'\]"),
        ("cat, dog", r"Did you mean \['cat', 'dog'\]"),
        ([], "there are no labels"),
        (["cat", " "], "label 1 is ' '"),
        (["cat", 3], "label 1 is 3"),
        (["caf\udce9"], "label 0 is not text"),
        (["cat", "cat"], "'cat' is given twice"),
    ],
)
def test_what_cannot_be_a_list_of_labels_is_refused(labels, message):
    with pytest.raises(UsageError, match=message):
        checked_labels(labels)
