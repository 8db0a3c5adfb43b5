"""Labels with texts of their own."""

import pytest

from viewvote.errors import UsageError
from viewvote.labels.texts import checked_texts, is_description, prompts_of


def test_a_plain_list_stands_for_itself():
    assert checked_texts(["cat", "dog"]) == (("cat", "dog"), ("cat", "dog"))
    assert checked_texts({"cat": "cat", "dog": ["dog", "dog "]}) == (("cat", "dog"), ("cat", "dog"))


def test_texts_are_kept_once_each_in_order():
    assert checked_texts({"cat": [" kitten", "cat", "kitten"], "dog": "hound"}) == (
        ("cat", "dog"),
        (("kitten", "cat"), ("hound",)),
    )


@pytest.mark.parametrize(
    "name",
    ["cat", "hot dog", "St. Bernard", "U.S.", "Washington D.C.", "A380", "The", "2012 Ford F-450 Super Duty Crew Cab"],
)
def test_names_go_into_the_templates(name):
    assert not is_description(name)
    assert prompts_of((name,), ["a {}.", "no {}."]) == [[f"a {name}.", f"no {name}."]]


@pytest.mark.parametrize(
    "text",
    [
        "a kitten",
        "The cat",
        "A tench is a freshwater fish of the carp family.",
        "Tenches are green.",
        'They say "tenches are green."',
        "Is it green?",
        "long green fish with red eyes and small scales",
    ],
)
def test_descriptions_stand_as_they_are(text):
    assert is_description(text)
    assert prompts_of((text,), ["a {}.", "no {}."]) == [[text]]


def test_a_label_in_a_list_is_a_name_whatever_it_looks_like():
    assert prompts_of("a kitten", ["a photo of {}."]) == [["a photo of a kitten."]]


@pytest.mark.parametrize(
    ("labels", "told"),
    [
        ({}, "there are no labels"),
        ({"cat": []}, r"label 'cat' has \[\]"),
        ({"cat": None}, "label 'cat' has None"),
        ({"cat": b"cat"}, "label 'cat' has b'cat'"),
        ({"cat": ["a cat", " "]}, "label 'cat' has the text ' '"),
        ({"cat": ["a cat", 3]}, "label 'cat' has the text 3"),
        ({"cat": ["a cat", "\ud800"]}, r"label 'cat' has .*, which is not text: half a character is in it"),
        ({3: "three"}, "label 0 is 3"),
    ],
)
def test_what_is_no_text_is_refused(labels, told):
    with pytest.raises(UsageError, match=told):
        checked_texts(labels)
