"""Tables made on a Ray of three nodes here: the same parts, whatever dies, freezes or goes; none that is left."""

import os
import signal
import subprocess
import sys
import warnings
from time import sleep

import pytest

from benchmarks.shelves import LABELS
from tests.bulk.jobs import job, manifest_of, parts_of, rows_of, shards
from viewvote.bulk import classify_bulk
from viewvote.bulk.on_ray import RayBulk

ray = pytest.importorskip("ray")
pytest.importorskip("pyarrow")

pytestmark = [
    # Ray leaves sockets and files to the garbage collector.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning"),
    pytest.mark.timeout(600),
]
ENGINE = RayBulk(actors=2, wait_for_nodes=20)
PIECES = 12


def fall_for(baits):
    """What a worker does as it starts: it arranges to end in the middle of a shard, as the baits say."""

    def prepare():
        from viewvote.bulk import on_ray

        whole = on_ray.answer_pieces

        def answer_pieces(classifier, tasks, table, **settings):
            steps = whole(classifier, tasks, table, **settings)
            if (baits / "poison").exists() and tasks[0].piece.name == (baits / "poison").read_text():
                os.kill(os.getpid(), signal.SIGKILL)
            yield next(steps)
            for name in ("SIGKILL", "SIGSTOP"):
                try:
                    (baits / name).unlink()
                except FileNotFoundError:
                    continue
                os.kill(os.getpid(), getattr(signal, name))
            yield from steps

        on_ray.answer_pieces = answer_pieces

    return prepare


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """A head that has no room for actors, and two nodes that have; each with its own raylet."""
    patch = pytest.MonkeyPatch()
    patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    patch.setenv("RAY_worker_niceness", "0")  # else other tests at work starve the workers
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from ray.cluster_utils import Cluster

        small = {"object_store_memory": 80_000_000}
        cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False, **small})
        cluster.workers = [cluster.add_node(num_cpus=1, **small) for _ in range(2)]
        cluster.baits = tmp_path_factory.mktemp("baits")
        hook = {"worker_process_setup_hook": fall_for(cluster.baits)}
        ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR", runtime_env=hook)
        yield cluster
        ray.shutdown()
        cluster.shutdown()
    patch.undo()


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    return shards(tmp_path_factory.mktemp("in"), number=PIECES, each=5)


@pytest.fixture(scope="module")
def expected(places, tmp_path_factory):
    output = tmp_path_factory.mktemp("local") / "t.parquet"
    classify_bulk(job(places, output))
    return parts_of(output)


def test_the_parts_are_those_of_the_local_engine_byte_for_byte(cluster, places, expected, tmp_path):
    done = classify_bulk(job(places, tmp_path / "t.parquet"), engine=ENGINE)
    assert parts_of(tmp_path / "t.parquet") == expected
    assert (done.images, done.errors) == (5 * PIECES, 0)
    assert manifest_of(tmp_path / "t.parquet")["environment"]["model_fingerprint"]


def test_a_killed_worker_loses_nothing(cluster, places, expected, tmp_path, caplog):
    (cluster.baits / "SIGKILL").touch()
    classify_bulk(job(places, tmp_path / "t.parquet"), engine=ENGINE)
    assert not (cluster.baits / "SIGKILL").exists()
    assert parts_of(tmp_path / "t.parquet") == expected
    assert "died; another one went on with it" in caplog.text


def test_a_frozen_worker_is_given_up(cluster, places, expected, tmp_path, caplog, monkeypatch):
    monkeypatch.setattr("viewvote.runs.engines.ray.pool.PATIENCE", 6.0)
    (cluster.baits / "SIGSTOP").touch()
    classify_bulk(job(places, tmp_path / "t.parquet"), engine=RayBulk(actors=1))
    assert parts_of(tmp_path / "t.parquet") == expected
    assert "the Ray actors fell silent" in caplog.text


def test_a_shard_that_kills_every_worker_becomes_an_error(cluster, tmp_path):
    places = shards(tmp_path / "in", number=3, each=5)
    poison = f"{tmp_path}/in/1.tar"
    (cluster.baits / "poison").write_text(poison)
    try:
        done = classify_bulk(job(places, tmp_path / "t.parquet"), engine=ENGINE)
    finally:
        (cluster.baits / "poison").unlink()
    rows = rows_of(tmp_path / "t.parquet")
    (error,) = [row for row in rows if row["error"]]
    assert error["key"] == poison
    assert error["error"] == "it was started 6 times and its worker died each time."
    of_others = [row for row in rows if not row["key"].startswith(poison)]
    assert [row["label"] for row in of_others] == [LABELS[i % 3] for i in (*range(5), *range(10, 15))]
    assert done.errors == 1
    assert done.images == len(rows)


def command(places, output):
    """The command that makes the table."""
    flags = ["--labels", ",".join(LABELS), "--model", "toy", "--views", "4", "--part-images", "2"]
    return [sys.executable, "-m", "viewvote", "classify", places, *flags, "--output", str(output)]


def wait_for_parts(process, output):
    """Until the process has written three parts, or has ended."""
    while process.poll() is None and len(list(output.glob("*.parquet"))) < 3:
        sleep(0.01)


def test_the_command_line_on_a_cluster_is_killed_and_continues_here(cluster, places, expected, tmp_path):
    args = command(places, tmp_path / "t.parquet")
    process = subprocess.Popen([*args, "--engine", "ray", "--ray-address", cluster.address], stderr=subprocess.PIPE)
    wait_for_parts(process, tmp_path / "t.parquet")
    process.kill()
    process.communicate()
    done = classify_bulk(job(places, tmp_path / "t.parquet"))
    assert (done.images, done.errors) == (5 * PIECES, 0)
    assert parts_of(tmp_path / "t.parquet") == expected
    assert manifest_of(tmp_path / "t.parquet")["complete"] == {"images": 5 * PIECES, "errors": 0}


def test_a_lost_node_loses_nothing(cluster, places, expected, tmp_path, monkeypatch):
    monkeypatch.setattr("viewvote.runs.engines.ray.pool.PATIENCE", 6.0)
    lost = []

    def lose_one(totals):
        if not lost:
            lost.append(cluster.workers.pop())
            cluster.remove_node(lost[0], allow_graceful=False)

    classify_bulk(job(places, tmp_path / "t.parquet"), engine=ENGINE, watch=lose_one)
    assert parts_of(tmp_path / "t.parquet") == expected


def test_a_cluster_that_shrinks_to_nothing_is_reported_and_given_up(cluster, places, expected, tmp_path):
    args = command(places, tmp_path / "t.parquet")
    flags = ["--engine", "ray", "--ray-address", cluster.address, "--actors", "1", "--wait-for-nodes", "8"]
    process = subprocess.Popen([*args, *flags], stderr=subprocess.PIPE)  # threads that Ray leaves behind end with it
    wait_for_parts(process, tmp_path / "t.parquet")
    for node in cluster.workers:
        cluster.remove_node(node, allow_graceful=False)
    cluster.workers.clear()
    _, stderr = process.communicate(timeout=300)
    assert b"no node of the Ray cluster has room for an actor any more; waiting 8 seconds" in stderr
    # What comes first: Ray ends a driver that lost its last node by itself, and rarely its native code crashes.
    crashed = process.returncode == -signal.SIGSEGV
    assert process.returncode == 1 or crashed
    gave_up = b"gave up: for 8 seconds no node of the Ray cluster had room for an actor"
    assert gave_up in stderr or b"after it is shutdown" in stderr or crashed
    classify_bulk(job(places, tmp_path / "t.parquet"))
    assert parts_of(tmp_path / "t.parquet") == expected
