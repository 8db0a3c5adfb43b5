"""Labels with texts of their own, in every shape of a request and as the service's default."""

import json

import pytest

from tests.conftest import draw_photo
from tests.images.pictures import GREEN, RED, encoded
from tests.server.living import png, running, without_timings
from viewvote import Classifier
from viewvote.errors import UsageError
from viewvote.server.options import Options, from_text, read_options
from viewvote.server.settings import Limits, Settings

PHOTO = encoded(draw_photo(90, 60))
TEXTS = {"warm": ["red", "a photo of something red"], "cold": "blue", "other": ["other"]}


def test_labels_with_texts_are_answered_as_python_does(client):
    expected = json.loads(json.dumps(without_timings(Classifier("toy", labels=TEXTS, n_views=8)(PHOTO).to_dict())))
    text = json.dumps(TEXTS)
    answers = [
        client.classify(PHOTO, labels=TEXTS),
        client.post_form("/v1/classify", [("image", "a.png", PHOTO)], [("labels", text)]),
    ]
    for answer in answers:
        assert answer.status == 200, answer.body
        assert without_timings(answer.json["predictions"][0]) | {"path": None} == expected
    assert set(expected["scores"]) == {"warm", "cold", "other"}


def test_the_texts_decide_and_not_the_names(client):
    swapped = {"red": "green", "green": ["red"]}
    assert client.classify(png(RED), labels=swapped).json["predictions"][0]["label"] == "green"
    assert client.classify(png(RED), labels=["red", "green"]).json["predictions"][0]["label"] == "red"


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        ({"warm": []}, "label 'warm' has (); expected its text, or a list of texts"),
        ({"warm": [" "], "cold": "blue"}, "label 'warm' has the text ' '"),
        ({"warm": 3}, "option 'labels': input should be a valid string; got 3."),
        ({"warm": ["red", 3]}, "option 'labels': input should be a valid string; got 3."),
        (["red", 3], "option 'labels': input should be a valid string; got 3."),
        ("red", "option 'labels': input should be a valid list; got 'red'."),
        ({"warm": ["x" * 301]}, "has 301 characters; the limit is 300"),
        ({}, "labels"),
        (["\ud800", "cat"], "'\\ud800'"),
        ({"\ud800": "cat", "dog": "dog"}, "'\\ud800'"),
        ({"cat": ["\ud800"], "dog": "dog"}, "'\\ud800'"),
    ],
)
def test_wrong_texts_are_named(client, labels, words):
    answer = client.classify(png(), labels=labels)
    assert answer.status == 422
    assert words.replace("()", "[]") in answer.json["error"].replace("()", "[]")


@pytest.mark.parametrize("fields", [["red", '{"a": "b"}'], ['{"a": "b"}', "red"], ['{"a": "b"}', '{"c": "d"}']])
def test_one_object_of_labels_is_all_of_them(fields):
    with pytest.raises(UsageError, match="give 'labels' once"):
        from_text([("labels", text) for text in fields])


def test_an_object_that_is_no_json_is_named():
    with pytest.raises(UsageError, match=r"option 'labels' must be a JSON object, e.g. .*\"a kitten\""):
        from_text([("labels", '{"cat": ')])


def test_texts_count_towards_the_limit_of_texts():
    with running(limits=Limits(texts=5)) as client:
        answer = client.classify(png(), labels={"a": ["b", "c", "d"], "e": ["f", "g"]}, templates=["{}", "the {}"])
        assert answer.status == 422
        assert "5 texts of labels in 2 templates are 10 texts; the limit is 5" in answer.json["error"]
    assert read_options({"labels": {"a": "b"}}, Limits()) == Options(labels={"a": "b"})


def test_the_services_own_labels_may_have_texts():
    with running(labels={"warm": ["red"], "cold": ["blue", "a blue thing"], "other": "other"}) as client:
        assert client.classify(png(RED)).json["predictions"][0]["label"] == "warm"
        assert client.classify(png(RED), labels=["green", "red"]).json["predictions"][0]["label"] == "red"
        info = client.get("/info").json
        assert info["labels"] == ["warm", "cold", "other"]
        assert info["texts"] == {"warm": ["red"], "cold": ["blue", "a blue thing"]}


@pytest.mark.parametrize("labels", [("red", "green"), {"red": ["red", "a red thing"]}, None])
def test_settings_with_labels_travel_to_other_processes(labels):
    settings = Settings(labels=labels)
    assert Settings.from_json(settings.to_json()) == settings


def test_classifiers_of_the_last_requests_are_kept_and_few_of_them(monkeypatch):
    monkeypatch.setattr("viewvote.server.service.CLASSIFIERS", 2)
    made = []
    original = Classifier.__init__

    def init(self, *args, **kwargs):
        made.append(kwargs["labels"])
        original(self, *args, **kwargs)

    with running() as client:
        monkeypatch.setattr(Classifier, "__init__", init)
        for labels, label in ((["red"], "red"), (["green"], "green"), (["red"], "red"), (["blue"], "blue")) * 2:
            assert client.classify(png(GREEN), labels=labels, top=1).json["predictions"][0]["label"] == label
        assert len(client.service._classifiers) == 2
        before = len(made)
        client.classify(png(GREEN), labels=["blue"], trace=True, timeout=5)
        assert len(made) == before
        client.classify(png(GREEN), labels=["blue"], seed=1)
        assert len(made) > before
