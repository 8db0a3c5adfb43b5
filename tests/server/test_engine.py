"""The queue: shared batches, refusals, clients that leave, deadlines, and failures of one image or of the model."""

import gc
import json
import os
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest

from tests.conftest import Gate, InBlocks, draw_photo
from tests.images.pictures import BLUE, GREEN, RED, encoded, same
from tests.server.living import form, png, running, wait_until
from viewvote import Classifier, ToyEncoder
from viewvote.errors import ModelError
from viewvote.server.batches import Batches
from viewvote.server.engine import Engine
from viewvote.server.features import FeatureCache
from viewvote.server.job import Job, Upload
from viewvote.server.lanes import Lanes
from viewvote.server.refusals import RefusedError
from viewvote.server.settings import Limits

ONE = Limits(images=1)


def ask_many(pool, client, count, **options):
    return [pool.submit(client.classify, png((i, 2 * i, 250)), **options) for i in range(count)]


def test_views_of_concurrent_requests_share_batches():
    gate = Gate()
    with running(gate) as client, ThreadPoolExecutor(9) as pool:
        gate.open.clear()
        gate.entered.clear()
        asked = ask_many(pool, client, 9)
        wait_until(lambda: gate.entered.is_set() and client.service.engine.admitted == 9)
        wait_until(lambda: client.service.engine.waiting == 0)
        gate.open.set()
        assert {one.result().status for one in asked} == {200}
        assert sum(gate.batches[1:]) == 9 * 8
        assert max(gate.batches) == 32


class Concurrent(Gate):
    """A gate that several threads may pass."""

    concurrent = True


class BlueLast(Concurrent):
    """Notes the colour of every view; after 20 blue ones another waits for a green one, if any comes.

    A view takes no time here: without that all of them could be done while another thread prepares the green photo.
    """

    def __init__(self):
        super().__init__()
        self.colours = []
        self.green, self.patient = threading.Event(), threading.Semaphore(1)

    def encode_images(self, views):
        features = super().encode_images(views)
        colour = "blue" if views[..., 2].mean() > views[..., 1].mean() else "green"
        if colour == "green":
            self.green.set()
        elif self.colours.count("blue") >= 20 and self.patient.acquire(blocking=False):
            self.green.wait(20)
        self.colours.append(colour)
        return features


def test_a_photo_that_one_view_settles_overtakes_one_that_needs_many(monkeypatch):
    monkeypatch.setattr("viewvote.server.lanes.PACE", 1e6)  # whatever a view takes here
    encoder = BlueLast()
    engine = Engine(encoder, FeatureCache(encoder, max_bytes=0), max_queue=50, max_views=64)
    many, one = (Classifier(encoder, labels=["green", "blue"], method="zero", n_views=n) for n in (40, 1))
    found = []
    encoder.open.clear()
    engine.start()
    engine.submit([Job(Upload(png(BLUE)), many, deliver=found.append)])
    wait_until(encoder.entered.is_set)
    engine.submit([Job(Upload(png(GREEN)), one, deliver=found.append)])
    encoder.open.set()
    wait_until(lambda: len(found) == 2)
    engine.close()
    assert [prediction.label for prediction in found] == ["green", "blue"]
    assert encoder.colours.count("blue") == 40
    assert encoder.colours.index("green") < 30  # at once, but for what the other threads have in hand


def test_only_models_that_allow_it_are_encoded_a_view_at_a_time_on_every_core(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2}, raising=False)
    plain, free, blocks = ToyEncoder(), Concurrent(), InBlocks()

    def crew(encoder, teacher=None):
        cache = FeatureCache(encoder, max_bytes=0)
        return Engine(encoder, cache, max_queue=8, max_views=8, teacher=teacher).crew

    assert [type(crew(*models)) for models in ((plain,), (free, plain), (blocks,))] == [Batches] * 3
    for models in ((free,), (free, free)):
        assert isinstance(crew(*models), Lanes)
        assert len(crew(*models)._threads) == 3


@pytest.mark.parametrize("views", [1, 20, "adaptive"])
@pytest.mark.parametrize("hold", [1000, 10**6])  # at first photos are too large to be held between rounds
def test_answers_of_many_at_once_have_the_bits_of_single_ones(views, hold, monkeypatch):
    monkeypatch.setattr("viewvote.views.sample.HOLD_PIXELS", hold)
    encoder = Concurrent()
    clf = Classifier(encoder, labels=["red", "green", "blue"], n_views=views)
    photos = [encoded(draw_photo(60 + i, 50)) for i in range(6)]
    engine = Engine(encoder, FeatureCache(encoder, max_bytes=0), max_queue=50, max_views=64)
    engine.start()
    found = {}
    engine.submit([Job(Upload(photo), clf, deliver=partial(found.__setitem__, i)) for i, photo in enumerate(photos)])
    wait_until(lambda: len(found) == len(photos))
    engine.close()
    assert set(encoder.batches) == {1}
    assert all(same(found[i], clf(photo)) for i, photo in enumerate(photos))


def test_the_first_images_of_many_requests_come_before_the_last_of_one():
    encoder = Concurrent()
    engine = Engine(encoder, FeatureCache(encoder, max_bytes=0), max_queue=200, max_views=64)
    clf = Classifier(encoder, labels=["red", "green"], n_views=1)
    order = []

    def job(name):
        return Job(Upload(png()), clf, deliver=lambda _: order.append(name))

    encoder.open.clear()
    engine.start()
    engine.submit([job("long") for _ in range(100)])
    wait_until(encoder.entered.is_set)
    for _ in range(3):
        engine.submit([job("short")])
    encoder.open.set()
    wait_until(lambda: len(order) == 103)
    engine.close()
    assert max(i for i, name in enumerate(order) if name == "short") < 60


def test_a_full_queue_refuses_at_once_and_loses_nothing_it_accepted():
    gate = Gate()
    with running(gate, max_queue=3, limits=ONE) as client, ThreadPoolExecutor(3) as pool:
        gate.open.clear()
        asked = ask_many(pool, client, 3)
        wait_until(lambda: client.service.engine.admitted == 3)
        for _ in range(20):
            refused = client.classify(png())
            assert (refused.status, refused.json["code"]) == (429, "queue_full")
            assert int(refused.headers["retry-after"]) >= 1
            assert "the queue holds 3" in refused.json["error"]
        assert client.get("/health/ready").status == 200
        gate.open.set()
        assert {one.result().status for one in asked} == {200}
        assert client.classify(png()).status == 200
        assert client.service.engine.admitted == 0


def test_a_request_with_more_images_than_there_is_room_for_is_refused_whole():
    gate = Gate()
    with running(gate, max_queue=3, limits=Limits(images=3)) as client, ThreadPoolExecutor(1) as pool:
        gate.open.clear()
        (first,) = ask_many(pool, client, 1)
        wait_until(lambda: client.service.engine.admitted == 1)
        assert client.classify(png(), png(), png()).status == 429
        gate.open.set()
        assert first.result().status == 200


def leave(client, gate, path):
    """Ask, and hang up while the model is at work."""
    gate.entered.clear()
    with socket.create_connection(("127.0.0.1", client.port)) as leaving:
        body, kind = form([("image", "a.png", encoded(draw_photo(90, 60)))])
        head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
        leaving.sendall(head.encode() + body)
        wait_until(gate.entered.is_set)
    wait_until(lambda: client.service.engine.admitted == 0)


@pytest.mark.parametrize("crew", [Gate, Concurrent])
@pytest.mark.parametrize("path", ["/v1/classify", "/v1/classify/stream"])
def test_a_client_that_leaves_stops_its_work(path, crew, caplog):
    gate = crew()
    with running(gate) as client:
        gate.open.clear()
        gate.batches.clear()
        leave(client, gate, f"{path}?views=64&stop=exact")
        gate.open.set()
        assert client.classify(png(), views=4).status == 200
        assert sum(gate.batches) < 64
    gc.collect()
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


def test_a_request_that_takes_too_long_is_given_up():
    gate = Gate()
    with running(gate, timeout=0.3) as client:
        gate.open.clear()
        answer = client.classify(png())
        assert (answer.status, answer.json["code"]) == (504, "deadline_exceeded")
        assert answer.json["error"] == "no answer within 0.3 seconds; the request was given up."
        assert client.classify(png(), timeout=0.1).json["error"].startswith("no answer within 0.1 seconds")
        assert client.service.engine.admitted == 0
        gate.open.set()
        assert client.classify(png()).status == 200


class Sick(ToyEncoder):
    """Fails on all-blue views, in one of two ways."""

    def __init__(self, how, concurrent):
        super().__init__()
        self.how = how
        self.concurrent = concurrent

    def encode_images(self, views):
        blue = (views[..., 2] > 200).all(axis=(1, 2))
        if blue.any() and self.how == "raises":
            raise RuntimeError("out of everything")
        features = super().encode_images(views)
        features[blue] = np.nan
        return features


@pytest.mark.parametrize("concurrent", [False, True])
@pytest.mark.parametrize("how", ["raises", "nan"])
def test_a_model_that_fails_costs_an_error_and_not_the_service(how, concurrent):
    with running(Sick(how, concurrent)) as client:
        answer = client.classify(png(BLUE))
        assert (answer.status, answer.json["code"]) == (500, "model_error")
        assert "Traceback" not in answer.json["error"]
        assert client.get("/health/ready").status == 200
        assert client.classify(png(RED)).json["predictions"][0]["label"] == "red"


@pytest.mark.parametrize("crew", [Gate, Concurrent])
@pytest.mark.parametrize("stage", ["prepare", "task", "views", "receive"])
def test_a_foreign_exception_belongs_to_its_image(stage, crew, monkeypatch):
    from viewvote.classify.image_task import ImageTask

    def spoilt(original):
        def call(self, *args, **kwargs):
            sample = self.sample if isinstance(self, ImageTask) else None
            size = sample.photo.size if sample is not None else None
            image = args[0] if stage == "prepare" else None
            width = args[0].photo.size[0] if stage == "task" else size[0] if size else image.image.name == "bad.png"
            if width in (33, True):
                raise ZeroDivisionError("of another's making")
            return original(self, *args, **kwargs)

        return call

    owner = Classifier if stage in ("prepare", "task") else ImageTask
    monkeypatch.setattr(owner, stage, spoilt(getattr(owner, stage)))
    with running(crew()) as client:
        files = [("image", "a.png", png(RED)), ("image", "bad.png", png(size=(33, 20))), ("image", "c.png", png(GREEN))]
        answer = client.post_form("/v1/classify", files)
        assert answer.status == 200
        first, second, third = answer.json["predictions"]
        assert (first["label"], third["label"]) == ("red", "green")
        assert second["code"] == ("internal_error" if stage == "receive" else "unreadable_image")
        assert client.service.engine.alive


@pytest.mark.parametrize("crew", [Gate, Concurrent])
def test_closing_answers_what_was_accepted(crew):
    encoder = crew()
    engine = Engine(encoder, FeatureCache(encoder, max_bytes=0), max_queue=50, max_views=64)
    clf = Classifier(encoder, labels=["red", "green"], n_views=8)
    found = []
    engine.start()
    encoder.open.clear()
    engine.submit([Job(Upload(png((250, i, 0))), clf, deliver=found.append) for i in range(20)])
    closing = threading.Thread(target=engine.close)
    closing.start()
    wait_until(lambda: not engine.alive)
    with pytest.raises(RefusedError, match="shutting down"), engine.admitted_images(1):
        pass
    encoder.open.set()
    closing.join(30)
    assert [prediction.label for prediction in found] == ["red"] * 20


def test_a_job_answers_once():
    clf = Classifier("toy", labels=["red", "green"], n_views=8)
    found = []
    job = Job(Upload(png()), clf, deliver=found.append)
    job.finish(ModelError("first"))
    job.cancel()
    job.receive(np.zeros((8, 3), np.float32), 0.0)
    assert [str(outcome) for outcome in found] == ["first"]
    assert job.views(0, 2).shape == (2, 32, 32, 3)


@pytest.mark.parametrize("crew", [InBlocks, Concurrent])
@pytest.mark.parametrize("n_views", [4, 8, 20, 24, 40])
def test_known_views_have_the_bits_they_have_by_themselves(n_views, crew):
    encoder, photo = crew(), encoded(draw_photo(60, 50))
    cache, found = FeatureCache(encoder, max_bytes=10**6), []
    engine = Engine(encoder, cache, max_queue=50, max_views=64)
    engine.start()
    asked = []
    for views in (24, n_views):
        clf = Classifier(encoder, labels=["red", "green", "blue"], n_views=views)
        asked.append(clf)
        engine.submit([Job(Upload(photo), clf, deliver=found.append)])
        wait_until(lambda: len(found) == len(asked))
    engine.close()
    assert same(found[1], clf(photo))


@pytest.mark.parametrize("crew", [Gate, Concurrent])
def test_few_images_are_decoded_ahead(crew):
    gate = crew()
    with running(gate) as client, ThreadPoolExecutor(40) as pool:
        gate.open.clear()
        asked = ask_many(pool, client, 40, views=64)
        wait_until(lambda: client.service.engine.admitted == 40)
        wait_until(lambda: client.service.engine.waiting < 40)
        assert client.service.engine.waiting >= 30
        gate.open.set()
        assert {one.result().status for one in asked} == {200}


def test_requests_of_several_images_answer_in_order(client):
    images = [png(colour) for colour in (RED, GREEN, BLUE)] * 10
    answer = client.classify(*images)
    assert [one["label"] for one in answer.json["predictions"]] == ["red", "green", "blue"] * 10
    assert json.loads(answer.body)["request_id"] == answer.headers["x-request-id"]
