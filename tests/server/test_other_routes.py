"""Explanations, Hugging Face's task, health, information, counters, and the files of the page."""

import base64
import io

import numpy as np
import pytest
from huggingface_hub import InferenceClient
from huggingface_hub.errors import HfHubHTTPError
from PIL import Image

from tests.conftest import Gate, draw_photo
from tests.images.pictures import GREEN, RED, encoded
from tests.server.living import png, running, without_timings
from viewvote import Classifier, __version__
from viewvote.files import example_photos
from viewvote.pictures.explain import explain
from viewvote.server.page_files import page_files

PHOTO = encoded(draw_photo(90, 60))


def test_the_explanation_is_the_picture_of_the_command_line(client):
    answer = client.post_image("/v1/explain?views=16", PHOTO)
    assert (answer.status, answer.headers["content-type"]) == (200, "image/png")
    found = Image.open(io.BytesIO(answer.body))
    expected = explain(PHOTO, Classifier("toy", labels=["red", "green", "blue"], n_views=16)(PHOTO))
    assert np.array_equal(np.asarray(found), np.asarray(expected))


def test_the_explanation_as_json_has_boxes_and_the_kept_views_in_order(client):
    answer = client.post_image("/v1/explain?views=16", PHOTO, {"Accept": "application/json"})
    found = answer.json
    views = found["prediction"]["trace"]["views"]
    assert (found["width"], found["height"], len(views)) == (90, 60, 16)
    kept = [i for i in range(16) if views[i]["kept"]]
    assert found["kept"] == sorted(kept, key=lambda i: views[i]["entropy"])
    assert len(kept) == 4
    assert found["zero_shot"]["label"] == views[0]["label"]
    assert views[0]["box"] == [15, 0, 75, 60]


def test_one_image_is_explained_at_a_time(client):
    answer = client.classify(png(), png(), path="/v1/explain")
    assert (answer.status, answer.json["error"]) == (422, "one image is explained at a time; got 2.")
    assert client.classify(b"none", path="/v1/explain").json["code"] == "unreadable_image"


@pytest.mark.parametrize("path", ["", "/", "/models/toy"])
def test_hugging_faces_own_client_works(client, path):
    hub = InferenceClient(model=client.url + path)
    found = hub.zero_shot_image_classification(PHOTO, candidate_labels=["red", "green", "blue"])
    expected = Classifier("toy", labels=["red", "green", "blue"], n_views=8)(PHOTO)
    assert [(one.label, one.score) for one in found] == [
        (expected.labels[i], float(expected.scores[i])) for i in expected.ranking()
    ]
    templated = hub.zero_shot_image_classification(
        png(GREEN), candidate_labels=["red", "green"], hypothesis_template="the {}"
    )
    assert templated[0].label == "green"


def test_hugging_faces_client_brings_its_token_as_the_key_and_shows_our_words():
    key = "hf_a-token-of-our-own-making"
    with running(api_keys=(key,)) as client:
        open_ = InferenceClient(model=client.url, token=key)
        assert open_.zero_shot_image_classification(png(RED), candidate_labels=["red", "blue"])[0].label == "red"
        shut = InferenceClient(model=client.url, token="wrong")
        with pytest.raises(HfHubHTTPError, match="401"):
            shut.zero_shot_image_classification(png(RED), candidate_labels=["red", "blue"])
        with pytest.raises(HfHubHTTPError, match="is given twice"):
            open_.zero_shot_image_classification(png(RED), candidate_labels=["red", "red"])


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({}, "inputs: Field required. Expected"),
        ({"inputs": 1}, "inputs: "),
        ({"inputs": "http://example.org/a.png"}, "images are not fetched from URLs"),
        ({"inputs": "aaaa", "parameters": {"candidate_labels": "red"}}, "parameters.candidate_labels: "),
        ({"inputs": "aaaa", "parameters": {"hypothesis_template": "none"}}, "has no {} where the label belongs"),
        ({"inputs": "aaaa"}, "cannot decode 3 bytes"),
    ],
)
def test_mistakes_in_the_task_are_told_in_words(client, values, words):
    answer = client.post_json("/", values)
    assert answer.status == 422
    assert words in answer.json["error"]


def test_another_model_is_not_found(client):
    answer = client.post_json("/models/openai/clip", {"inputs": base64.b64encode(png()).decode()})
    assert (answer.status, answer.json["error"]) == (404, "this service has the model 'toy' and no other.")


@pytest.mark.parametrize("prefix", ["", "/v2"])
def test_probes(client, prefix):
    for probe in ("live", "ready"):
        assert client.get(f"{prefix}/health/{probe}").json == {"status": probe}
        assert client.call("HEAD", f"{prefix}/health/{probe}").status == 200


def test_a_service_whose_engine_ended_is_not_ready():
    with running() as client:
        client.service.engine.close()
        answer = client.get("/health/ready")
        assert (answer.status, answer.json["code"]) == (503, "not_ready")
        assert client.classify(png()).status == 503
        assert client.get("/health/live").status == 200


def test_information(client):
    found = client.get("/info").json
    assert (found["version"], found["model"], found["teacher"]) == (__version__, "toy", None)
    assert found["labels"] == ["red", "green", "blue"]
    assert found["limits"]["images"] == 32
    methods = {method["name"]: method for method in found["methods"]}
    assert methods["zero"]["adaptive"]
    assert not methods["zero-shot"]["keep"]
    assert {"tda", "dota", "tpt", "rlcf"}.isdisjoint(methods)
    assert [client.get(path).status for path in found["examples"]] == [200] * 4


def metrics_of(client):
    lines = client.get("/metrics").body.decode().splitlines()
    return {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in lines if not line.startswith("#")}


def test_counters():
    gate = Gate()
    with running(gate) as client:
        assert client.get("/metrics").headers["content-type"].startswith("text/plain")
        client.classify(png(), png(GREEN), b"none")
        client.classify(png(), abstain_below=1.0, method="zero-shot", labels=["red", "white"])
        client.classify(png(), labels=[])
        client.get("/nothing")
        found = metrics_of(client)
    assert found['viewvote_requests_total{route="/v1/classify",status="200"}'] == 2
    assert found['viewvote_requests_total{route="/v1/classify",status="422"}'] == 1
    assert found['viewvote_requests_total{route="unknown",status="404"}'] == 1
    assert found['viewvote_images_total{outcome="answered"}'] == 2
    assert found['viewvote_images_total{outcome="abstained"}'] == 1
    assert found['viewvote_images_total{outcome="unreadable_image"}'] == 1
    assert found['viewvote_refusals_total{reason="invalid_request"}'] == 1
    assert found['viewvote_views_used_sum{method="anchored"}'] == 16
    assert found['viewvote_views_used_sum{method="zero-shot"}'] == 1
    assert found["viewvote_queue_images"] == 0
    assert found["viewvote_text_heads"] == 3  # of two label sets and of ordinary names
    for stage in ("wait", "read", "render", "encode", "decide"):
        assert found[f'viewvote_stage_seconds_count{{stage="{stage}"}}'] == (4 if stage == "wait" else 3)
    assert found["viewvote_batch_views_sum"] == sum(gate.batches[1:])


def test_the_page_and_its_files_are_what_is_there_and_nothing_else(client):
    page = client.get("/")
    assert (page.status, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert page.headers["cache-control"] == "no-cache"
    again = client.call("GET", "/", headers={"If-None-Match": page.headers["etag"]})
    assert (again.status, again.body) == (304, b"")
    for name in page_files():
        assert client.get(f"/static/{name}").status == 200
    for path in (
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/static//etc/passwd",
        "/static/",
        "/examples/..%2fREADME.md",
    ):
        answer = client.get(path)
        assert (answer.status, answer.json["code"]) == (404, "not_found")


def test_the_shipped_photographs_are_served_as_they_are(client):
    for path in example_photos():
        assert client.get(f"/examples/{path.name}").body == path.read_bytes()


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/v1/classify", 405), ("POST", "/info", 405), ("DELETE", "/", 405), ("POST", "/nothing", 404)],
)
def test_what_is_not_there_answers_in_the_shape_of_all_errors(client, method, path, status):
    answer = client.call(method, path)
    assert answer.status == status
    assert set(answer.json) == {"error", "code", "request_id"}


def test_answers_of_two_routes_agree(client):
    plain = client.post_image("/v1/classify?views=16&trace=true", PHOTO).json["predictions"][0]
    explained = client.post_image("/v1/explain?views=16", PHOTO, {"Accept": "application/json"}).json["prediction"]
    assert without_timings(plain) == without_timings(explained)
