"""`POST /v1/classify`: three shapes of one request, options, names, and images that cannot be used."""

import base64
import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.conftest import Contrary, draw_photo
from tests.images.pictures import GREEN, RED, encoded
from tests.server.living import COLOURS, png, running, without_timings
from viewvote import Classifier, ToyEncoder
from viewvote.server.options import served_methods, served_settings

PHOTO = encoded(draw_photo(90, 60))


def test_the_three_shapes_of_a_request_are_answered_alike_and_as_python_does(client):
    expected = without_timings(Classifier("toy", labels=["red", "blue"], n_views=16)(PHOTO).to_dict(trace=True))
    options = {"labels": ["red", "blue"], "views": 16, "trace": True}
    fields = [("labels", "red, blue"), ("views", "16"), ("trace", "true")]
    answers = [
        client.classify(PHOTO, **options),
        client.post_image("/v1/classify?labels=red,blue&views=16&trace=true", PHOTO),
        client.post_image("/v1/classify?labels=red&labels=blue&views=16&trace=true", PHOTO),
        client.post_form("/v1/classify", [("image", "a.png", PHOTO)], fields),
        client.post_form("/v1/classify?views=16", [("image", "a.png", PHOTO)], [fields[0], fields[2]]),
    ]
    for answer in answers:
        assert answer.status == 200, answer.body
        (found,) = answer.json["predictions"]
        assert found["path"] in (None, "a.png")
        assert without_timings(found) | {"path": None} == json.loads(json.dumps(expected))


def test_a_data_url_counts_as_base64(client):
    url = "data:image/png;base64," + base64.b64encode(png(GREEN)).decode()
    answer = client.post_json("/v1/classify", {"images": [url]})
    assert answer.json["predictions"][0]["label"] == "green"


def test_a_label_with_a_comma_is_written_as_json(client):
    labels = json.dumps(["red, or nearly", "green"])
    answer = client.post_form("/v1/classify", [("image", "a.png", png(RED))], [("labels", labels)])
    assert answer.json["predictions"][0]["label"] == "red, or nearly"


@pytest.mark.parametrize(
    ("options", "key", "value"),
    [
        ({"method": "zero-shot"}, "views_used", 1),
        ({"views": "adaptive"}, "stop", "confident"),
        ({"views": "adaptive", "disagreement": 0.02}, "stop", "confident"),
        ({"views": 64, "stop": "exact"}, "stop", "exact"),
        ({"views": 8, "keep": 0.5}, "votes", {"red": 4, "green": 0, "blue": 0}),
        ({"top": 1}, "scores", {"red": 1.0}),
        ({"templates": "imagenet80"}, "label", "red"),
        ({"templates": ["a {}", "the {}"]}, "label", "red"),
        ({"augment": "augmix", "seed": 7}, "label", "red"),
        ({"abstain_below": 1.0, "method": "zero-shot", "labels": ["red", "white"]}, "label", None),
        ({"method": "marginal"}, "vote_share", None),
        ({"views": 8, "keep": 0.5, "settings": {"tie": "most-confident"}}, "votes", {"red": 4, "green": 0, "blue": 0}),
        ({"method": "anchored", "settings": {"weight": 1}}, "method", "anchored"),
    ],
)
def test_options_of_the_command_line_work(client, options, key, value):
    answer = client.classify(png(RED), **options)
    assert answer.status == 200, answer.body
    assert answer.json["predictions"][0][key] == value


def test_one_bad_image_of_several_leaves_the_others_alone(client):
    files = [("image", "a.png", png(RED)), ("image", "notes.txt", b"no picture"), ("image", "c.png", png(GREEN))]
    answer = client.post_form("/v1/classify", files)
    assert answer.status == 200
    first, second, third = answer.json["predictions"]
    assert (first["path"], first["label"], third["path"], third["label"]) == ("a.png", "red", "c.png", "green")
    assert second == {
        "path": "notes.txt",
        "error": "cannot decode notes.txt: it is not an image in a known format.",
        "code": "unreadable_image",
    }


def test_a_single_bad_image_fails_the_request_in_the_words_of_the_command_line(client):
    answer = client.classify(b"no picture")
    assert answer.status == 422
    assert answer.json["error"] == "cannot decode 10 bytes: it is not an image in a known format."
    assert answer.json["code"] == "unreadable_image"
    assert answer.json["request_id"] == answer.headers["x-request-id"]


def test_concurrent_requests_get_the_very_bits_of_single_calls():
    photos = [encoded(draw_photo(50 + i, 40, seed=i)) for i in range(24)]
    settings = [{"views": 16}, {"views": "adaptive"}, {"views": 7, "labels": ["blue", "green"]}, {"method": "mta"}]

    def alone(i):
        options = {"labels": COLOURS, "views": 8} | settings[i % 4]
        views = options.pop("views")
        return Classifier("toy", n_views=views, **options)(photos[i]).to_dict(trace=True)

    with running(feature_bytes=0) as client, ThreadPoolExecutor(12) as pool:

        def ask(i):
            return client.classify(photos[i], trace=True, **settings[i % 4]).json["predictions"][0]

        answers = list(pool.map(ask, range(24)))
        assert client.service.engine.admitted == 0
    for i, answer in enumerate(answers):
        assert without_timings(answer) == json.loads(json.dumps(without_timings(alone(i))))


def test_a_photo_asked_about_other_labels_is_not_encoded_again_and_answered_alike():
    class Counting(ToyEncoder):
        views = 0

        def encode_images(self, views):
            self.views += len(views)
            return super().encode_images(views)

    encoder = Counting()
    with running(encoder) as client:
        client.classify(PHOTO, views="adaptive", labels=["red", "cyan"])
        client.classify(PHOTO, views=64)
        before = encoder.views
        for options in (
            {"labels": ["red", "cyan"]},
            {"labels": ["yellow", "white", "blue"], "keep": 0.3},
            {"views": 5},
        ):
            options = {"views": "adaptive", "labels": ["green"]} | options
            answer = client.classify(PHOTO, trace=True, **options).json["predictions"][0]
            alone = Classifier("toy", n_views=options.pop("views"), **options)(PHOTO).to_dict(trace=True)
            assert without_timings(answer) == json.loads(json.dumps(without_timings(alone)))
        assert encoder.views == before
        client.classify(PHOTO, seed=1)
        assert encoder.views == before + 8


def test_the_teacher_votes_where_the_method_asks_one():
    with running(teacher=Contrary()) as client:
        by_default = client.classify(png(RED)).json["predictions"][0]
        assert (by_default["label"], by_default["model"]) == ("green", "toy -> contrary")
        assert client.classify(png(RED), teacher=False).json["predictions"][0]["label"] == "red"
        assert client.classify(png(RED), teacher="contrary").json["predictions"][0]["label"] == "green"
        assert client.classify(png(RED), method="zero-shot").json["predictions"][0]["label"] == "red"
        refused = client.classify(png(RED), method="zero-shot", teacher=True)
        assert (refused.status, refused.json["error"]) == (
            422,
            "method 'zero-shot' asks no teacher; use 'zero', or leave the teacher out.",
        )
        assert client.classify(png(RED), teacher="other").status == 422


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"views": 0}, "option 'views': "),
        ({"views": 65}, "65 views are too many; the limit is 64."),
        ({"views": "many"}, "option 'views': "),
        ({"views": True}, "option 'views': "),
        ({"views": 2.5}, "option 'views': "),
        ({"keep": 0}, "option 'keep': "),
        ({"keep": 0.3, "method": "zero-shot"}, "method 'zero-shot' uses no kept views, so it takes no keep."),
        ({"method": "zer"}, "no method 'zer'. Did you mean 'zero'?"),
        ({"method": "tda"}, "a service answers each image alone"),
        ({"method": "tpt"}, "a service answers each image alone"),
        ({"labels": []}, "there are no labels"),
        ({"labels": ["cat", "cat"]}, "label 'cat' is given twice"),
        ({"labels": ["cat", " "]}, "label 1 is ' '"),
        ({"labels": "cat"}, "option 'labels': "),
        ({"labels": ["\ud800"]}, "is not text"),
        ({"labels": ["x" * 301]}, "has 301 characters; the limit is 300."),
        ({"labels": [str(i) for i in range(1001)]}, "1,001 labels are too many; the limit is 1,000."),
        ({"labels": [str(i) for i in range(101)], "templates": "imagenet80"}, "the limit is 8,000"),
        ({"templates": "nothing"}, "no template set 'nothing'"),
        ({"templates": ["no place"]}, "has no place for the label"),
        ({"templates": ["{}"] * 101}, "101 templates are too many"),
        ({"stop": "/etc/passwd"}, "option 'stop': "),
        ({"disagreement": 0.1}, "disagreement belongs to adaptive views"),
        ({"views": "adaptive", "keep": 0.4}, "no thresholds are calibrated"),
        ({"teacher": True}, "the teacher of this service is none"),
        ({"lables": ["cat"]}, "no option 'lables'. Did you mean 'labels'?"),
        ({"seed": 2**63}, "option 'seed': "),
        ({"top": 0}, "option 'top': "),
        ({"abstain_below": 2}, "option 'abstain_below': "),
        ({"none": 1}, "option 'none': "),
        ({"multi": True}, "no option 'multi'. Did you mean 'multi_label'?"),
        ({"settings": {"ties": "first"}}, "no setting of method 'anchored' 'ties'. Did you mean 'tie'?"),
        ({"settings": {"tie": "best"}}, "no tie rule 'best'"),
        ({"settings": {"keep": 0.2}}, "no setting of method 'anchored' 'keep'"),
        ({"settings": {"tie": ["first"]}}, "option 'settings': "),
        ({"settings": "tie"}, "option 'settings': "),
        ({"settings": {"tie": "first"}, "method": "zero-shot"}, "no setting of method 'zero-shot' 'tie'. Known: none."),
        ({"settings": {"iterations": 10**9}, "method": "mta"}, "no setting of method 'mta' 'iterations'"),
    ],
)
def test_mistakes_in_options_are_told_in_words(client, values, words):
    answer = client.classify(png(), **values)
    assert (answer.status, answer.json["code"]) == (422, "invalid_request")
    assert words in answer.json["error"]


def test_settings_in_an_address_or_a_form_are_a_json_object(client):
    address = "/v1/classify?method=anchored&labels=red,white&settings="
    votes_alone = client.post_image(f"{address}%7B%22weight%22%3A0%7D", png(RED))
    with_a_say = client.post_image(f"{address}%7B%22weight%22%3A1%7D", png(RED))
    assert votes_alone.json["predictions"][0]["scores"] == {"red": 1.0, "white": 0.0}
    assert with_a_say.json["predictions"][0]["scores"]["white"] > 0
    wrong = client.post_image("/v1/classify?settings=keep", png(RED))
    assert (wrong.status, wrong.json["code"]) == (422, "invalid_request")
    assert "option 'settings' must be a JSON object" in wrong.json["error"]


@pytest.mark.parametrize("method", sorted(served_methods()))
def test_no_value_of_a_setting_breaks_the_service(client, method):
    odd = [0, -1, 1, 10**30, 1e308, -1e308, 1e-308, True, "", "first", "\ud800"]
    for setting in served_settings(method):
        for value in odd:
            answer = client.classify(png(), method=method, views=4, settings={setting: value})
            assert answer.status in (200, 422), (setting, value, answer.body)


def test_without_default_labels_a_request_must_bring_some():
    with running(labels=None) as client:
        answer = client.classify(png())
        assert answer.status == 422
        assert "give the labels to choose from" in answer.json["error"]
        assert client.classify(png(GREEN), labels=["red", "green"]).json["predictions"][0]["label"] == "green"


def test_labels_can_be_refused_and_asked_alone(client):
    answer = client.classify(png(), labels=["red", "green"], none=True, multi_label=True).json["predictions"][0]
    assert set(answer["probabilities"]) == {"red", "green", "none of these"}
    assert set(answer["each"]) == {"red", "green"}
    assert set(answer["shown"]) <= {"red", "green"}
