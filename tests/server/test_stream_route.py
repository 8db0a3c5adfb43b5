"""`POST /v1/classify/stream`: one sees the vote being decided, and gets the answer of `/v1/classify`."""

import json

import pytest

from tests.conftest import Gate, draw_photo
from tests.images.pictures import GREEN, RED, encoded
from tests.server.living import png, running, wait_until, without_timings
from viewvote import Classifier

PHOTO = encoded(draw_photo(90, 60))
STREAM = "/v1/classify/stream"


@pytest.mark.parametrize(
    ("method", "views"),
    [("zero", "adaptive"), *((method, views) for method in ("zero", "mta", "zero-shot") for views in (1, 5, 20))],
)
def test_every_round_shows_what_that_many_views_would_answer(client, views, method):
    answer = client.classify(PHOTO, path=STREAM, views=views, method=method)
    assert (answer.status, answer.headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
    names = [name for name, _ in answer.events]
    rounds = [data for name, data in answer.events if name == "round"]
    assert names == ["accepted", *["round"] * len(rounds), "prediction", "done"]
    for number, data in enumerate(rounds, start=1):
        alone = Classifier("toy", labels=client.service.settings.labels, method=method, n_views=data["seen"])(PHOTO)
        expected = json.loads(json.dumps(alone.to_dict(trace=True)))
        assert (data["image"], data["round"], data["width"], data["height"]) == (0, number, 90, 60)
        assert data["views"] == expected["trace"]["views"]
        assert data["scores"] == {label: score for label, score in expected["scores"].items() if score > 0}
        assert data["votes"] == (expected["votes"] and {label: expected["votes"][label] for label in data["scores"]})
        assert data["leader"] == alone.labels[alone.index]
        assert data["zero_shot"]["label"] == expected["trace"]["views"][0]["label"]


@pytest.mark.parametrize("views", [20, 64, "adaptive"])
def test_the_prediction_is_that_of_the_plain_route_to_the_last_bit(client, views):
    streamed = dict(client.classify(PHOTO, path=STREAM, views=views).events)["prediction"]
    plain = client.classify(PHOTO, views=views, trace=True).json["predictions"][0]
    assert without_timings(streamed["prediction"]) == without_timings(plain)
    assert (streamed["image"], streamed["width"], streamed["height"]) == (0, 90, 60)


def test_a_number_of_views_is_shown_every_eight(client):
    events = client.classify(PHOTO, path=STREAM, views=20).events
    assert [data["seen"] for name, data in events if name == "round"] == [8, 16, 20]
    assert events[0][1] | {"request_id": ""} == {
        "request_id": "",
        "images": 1,
        "labels": ["red", "green", "blue"],
        "method": "anchored",
        "model": "toy",
        "budget": 20,
        "adaptive": False,
    }


def test_a_photo_known_from_before_shows_the_same_rounds(client):
    photo = encoded(draw_photo(61, 47, seed=5))
    first, second = (
        [data for name, data in client.classify(photo, path=STREAM, views="adaptive").events if name == "round"]
        for _ in range(2)
    )
    assert first == second


def test_several_images_are_told_apart_and_a_bad_one_is_an_event(client):
    answer = client.classify(png(RED), b"no picture", png(GREEN), path=STREAM)
    by_image = {(name, data.get("image")): data for name, data in answer.events}
    assert by_image["prediction", 0]["prediction"]["label"] == "red"
    assert by_image["prediction", 2]["prediction"]["label"] == "green"
    assert by_image["error", 1] == {
        "image": 1,
        "error": "cannot decode 10 bytes: it is not an image in a known format.",
        "code": "unreadable_image",
    }
    name, data = answer.events[-1]
    assert name == "done"
    assert data == {"request_id": answer.headers["x-request-id"], "predictions": 2, "errors": 1}


def test_what_is_refused_before_it_starts_is_no_stream(client):
    assert client.classify(PHOTO, path=STREAM, labels=[]).json["code"] == "invalid_request"
    assert client.call("POST", STREAM, b"", {"Content-Type": "text/plain"}).status == 415


def test_rounds_come_while_the_others_are_still_to_come():
    gate = Gate()
    with running(gate) as client:
        connection = client.connect()
        gate.open.clear()
        connection.request("POST", f"{STREAM}?views=16", PHOTO, {"Content-Type": "image/png"})
        wait_until(gate.entered.is_set)
        answer = connection.getresponse()
        assert answer.readline() == b"event: accepted\n"
        assert gate.batches[1:] == []
        gate.open.set()
        assert b"event: done" in answer.read()
        connection.close()


def test_a_stream_whose_time_is_up_says_so():
    gate = Gate()
    with running(gate) as client:
        gate.open.clear()
        answer = client.classify(PHOTO, path=STREAM, timeout=0.2)
        names = [name for name, _ in answer.events]
        assert names == ["accepted", "error", "done"]
        assert answer.events[1][1] == {
            "image": None,
            "error": "no answer within 0.2 seconds; the request was given up.",
            "code": "deadline_exceeded",
        }
        assert answer.events[2][1]["errors"] == 1
        gate.open.set()
        wait_until(lambda: client.service.engine.admitted == 0)
        assert client.classify(PHOTO).status == 200


def test_silence_is_filled_with_comments(monkeypatch):
    monkeypatch.setattr("viewvote.server.sse.HEARTBEAT", 0.05)
    gate = Gate()
    with running(gate) as client:
        gate.open.clear()
        answer = client.classify(PHOTO, path=STREAM, timeout=0.5)
        assert answer.body.count(b": waiting\n\n") > 2
        gate.open.set()
