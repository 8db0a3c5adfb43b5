"""The shape transformers users know."""

import pytest
from PIL import Image

import viewvote
from viewvote.errors import UnknownNameError, UsageError

RED, BLUE = Image.new("RGB", (30, 20), (250, 0, 0)), Image.new("RGB", (30, 20), (0, 0, 250))


@pytest.fixture
def pipe():
    return viewvote.pipeline("zero-shot-image-classification", model="toy", n_views=8)


def test_one_image_gives_a_sorted_list(pipe):
    answer = pipe(RED, candidate_labels=["blue", "red", "green"])
    assert answer[0] == {"score": pytest.approx(0.99), "label": "red"}
    assert [set(row) for row in answer] == [{"score", "label"}] * 3
    assert [row["score"] for row in answer] == sorted((row["score"] for row in answer), reverse=True)


def test_many_images_give_a_list_of_lists(pipe):
    answers = pipe([RED, BLUE], candidate_labels="red, blue")
    assert [answer[0]["label"] for answer in answers] == ["red", "blue"]


def test_the_template_is_used_and_the_head_is_kept(pipe):
    # every prompt says "blue" before the label, so the toy hears nothing else and the first label wins the tie
    assert pipe(BLUE, candidate_labels=["red", "green"], hypothesis_template="blue {}")[0]["label"] == "red"
    head = pipe._classifier.text_head
    pipe(RED, candidate_labels=["red", "green"], hypothesis_template="blue {}")
    assert pipe._classifier.text_head is head
    pipe(RED, candidate_labels=["red", "blue"])
    assert pipe._classifier.text_head is not head


def test_a_method_keeps_its_own_templates_unless_one_is_given():
    pipe = viewvote.pipeline(model="toy", method="ensemble")
    assert pipe(RED, candidate_labels=["red", "blue"])[0]["label"] == "red"
    classifier = pipe._classifier
    assert len(classifier.templates) == 7
    pipe(BLUE, candidate_labels=["red", "blue"])
    assert pipe._classifier is classifier
    pipe(RED, candidate_labels=["red", "blue"], hypothesis_template="a {}")
    assert pipe._classifier.templates == ("a {}",)


def test_the_template_is_the_one_transformers_users_know(pipe):
    pipe(RED, candidate_labels=["red"])
    assert pipe._classifier.templates == ("a photo of a {}.",)


def test_mistakes_are_told(pipe):
    with pytest.raises(UnknownNameError, match="zero-shot-image-classification"):
        viewvote.pipeline("image-classification", model="toy")
    with pytest.raises(UsageError, match="where the label belongs"):
        pipe(RED, candidate_labels=["red"], hypothesis_template="a photo")
    with pytest.raises(UsageError, match="label 1"):
        pipe(RED, candidate_labels="red,")


def test_it_takes_adaptive_views():
    pipe = viewvote.pipeline(model="toy", n_views="adaptive")
    assert pipe(RED, candidate_labels=["red", "green"])[0]["label"] == "red"
    assert pipe._classifier.rule == viewvote.Adaptive().rule(keep=0.3, vote="anchored")
