"""The Ray Serve deployment on a Ray of this machine's own."""

import urllib.request
from pathlib import Path

import pytest

from tests.images.pictures import GREEN, RED
from tests.server.living import Client, free_port, png
from viewvote.errors import UsageError
from viewvote.server.settings import Settings

pytest.importorskip("ray.serve", reason="needs Ray Serve: pip install 'viewvote[ray-serve]'", exc_type=ImportError)

pytestmark = [
    # Ray leaves sockets and files to the garbage collector, and warns of its own plans.
    pytest.mark.filterwarnings("ignore"),
]


@pytest.fixture(scope="module")
def replicas():
    import ray
    from ray import serve

    from viewvote.server.ray_serve import deployment

    patch = pytest.MonkeyPatch()
    patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    patch.setenv("RAY_SERVE_PROXY_READY_CHECK_TIMEOUT_S", "50")  # its 5 seconds are few beside other tests
    patch.setenv("PYTHONPATH", str(Path(__file__).parents[2] / "src"))
    port = free_port()
    ray.init("local", num_cpus=4, include_dashboard=False, log_to_driver=False)  # not a cluster of another test
    try:
        serve.start(http_options={"host": "127.0.0.1", "port": port})
        settings = Settings(model="toy", labels=("red", "green"), views=8)
        serve.run(deployment(settings, num_replicas=2, ray_actor_options={"num_cpus": 1}), name="viewvote")
        yield Client(port, None)
    finally:
        serve.shutdown()
        ray.shutdown()
        patch.undo()


def test_replicas_answer_as_the_service_does(replicas):
    for colour, label in ((RED, "red"), (GREEN, "green")):
        answer = replicas.classify(png(colour), trace=True)
        assert answer.status == 200
        assert answer.json["predictions"][0]["label"] == label
        assert len(answer.json["predictions"][0]["trace"]["views"]) == 8
    events = [name for name, _ in replicas.classify(png(RED), path="/v1/classify/stream").events]
    assert events == ["accepted", "round", "prediction", "done"]
    with urllib.request.urlopen(f"{replicas.url}/health/ready") as ready:
        assert ready.status == 200


def test_replicas_refuse_as_the_service_does(replicas):
    assert replicas.classify(b"no picture").json["code"] == "unreadable_image"
    assert replicas.post_image("/v1/classify", png(), {"Host": "evil.example"}).status == 403


def test_arguments_of_serve_run():
    from viewvote.server.ray_serve import build

    assert build({"model": "toy", "labels": "red, green", "views": "adaptive", "replicas": "2"})
    with pytest.raises(UsageError, match="no argument 'lables'"):
        build({"lables": "red"})
