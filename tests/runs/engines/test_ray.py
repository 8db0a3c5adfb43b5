"""The Ray engine on a cluster of two nodes here: the same records, workers and nodes that die, what it cannot do."""

import json
import os
import signal
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path

import pytest

from tests.runs.colour_runs import colour_folder, lines_of, spoil
from viewvote import plugins
from viewvote.encoders import SCHEMES
from viewvote.errors import RunError, UsageError
from viewvote.runs import RunSpec, run
from viewvote.runs.engines.local import LocalEngine
from viewvote.runs.engines.ray.engine import RayEngine

ray = pytest.importorskip("ray")

pytestmark = [
    # Ray leaves sockets and files to the garbage collector.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
ENGINE = RayEngine(actors=2)
ENGINES = {"local": LocalEngine(), "ray": ENGINE}
N = 210


def fall_for(baits):
    """What a worker does as it starts: it arranges to get a signal in the middle of a shard, once for each bait."""

    def prepare():
        from viewvote.runs.engines.ray import engine

        whole = engine.run_shard

        def run_shard(*args, **kwargs):
            records = whole(*args, **kwargs)
            yield next(records)
            for name in ("SIGKILL", "SIGSTOP"):
                try:
                    (baits / name).unlink()
                except FileNotFoundError:
                    continue
                os.kill(os.getpid(), getattr(signal, name))
            yield from records

        engine.run_shard = run_shard

    return prepare


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """A head and a second node, each with its own raylet, and a connection to them."""
    patch = pytest.MonkeyPatch()
    patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    patch.setenv("RAY_worker_niceness", "0")  # else other tests at work starve the workers
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from ray.cluster_utils import Cluster

        small = {"include_dashboard": False, "object_store_memory": 80_000_000}
        cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, **small})
        cluster.second = cluster.add_node(num_cpus=1, object_store_memory=80_000_000)
        cluster.baits = tmp_path_factory.mktemp("baits")
        hook = {"worker_process_setup_hook": fall_for(cluster.baits)}
        ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR", runtime_env=hook)
        yield cluster
        ray.shutdown()
        cluster.shutdown()
    patch.undo()


@pytest.fixture(scope="module")
def spec(tmp_path_factory):
    folder = colour_folder(tmp_path_factory.mktemp("data") / "colours", each=N // 3, size=96)
    spoil(folder / "green" / "0005.png")
    return RunSpec(dataset=str(folder), model="toy", views=16)


@pytest.fixture(scope="module")
def expected(spec, tmp_path_factory):
    return lines_of(run(spec, out=tmp_path_factory.mktemp("local")))


def test_actors_load_the_plugins_of_the_process_that_starts_them(cluster, spec, tmp_path, monkeypatch):
    for name in ("_entries", "_objects"):
        monkeypatch.setattr(SCHEMES, name, dict(getattr(SCHEMES, name)))
    monkeypatch.setattr(plugins, "_loaded", {})
    (tmp_path / "mine.py").write_text(
        "import viewvote\nviewvote.register_encoder('mine', lambda rest, options: viewvote.ToyEncoder(size=20))\n"
    )
    plugins.load_plugin(tmp_path / "mine.py")
    mine = replace(spec, model="mine", limit=40)
    local, spread = (run(mine, out=tmp_path / name, engine=engine) for name, engine in ENGINES.items())
    assert lines_of(spread) == lines_of(local)


def once(n, action):
    """A watcher that acts after n samples."""

    def watch(moment):
        if moment.computed == n:
            action()

    return watch


def test_a_killed_worker_loses_nothing_and_the_records_are_those_of_the_local_engine(cluster, spec, expected, tmp_path):
    bait = cluster.baits / "SIGKILL"
    bait.touch()
    summary = run(spec, out=tmp_path, engine=ENGINE)
    assert not bait.exists()
    assert lines_of(summary) == expected
    assert (summary.n, summary.errors) == (N, 1)
    assert "died; they were computed again" in (Path(summary.path) / "run.log").read_text()


def test_a_frozen_worker_is_given_up_and_its_samples_are_computed_by_others(
    cluster, spec, expected, tmp_path, monkeypatch
):
    monkeypatch.setattr("viewvote.runs.engines.ray.pool.PATIENCE", 6.0)
    bait = cluster.baits / "SIGSTOP"
    bait.touch()
    summary = run(spec, out=tmp_path, engine=ENGINE)
    assert not bait.exists()
    assert lines_of(summary) == expected
    assert "the Ray actors fell silent" in (Path(summary.path) / "run.log").read_text()


def test_begun_here_it_continues_on_ray_and_the_other_way_round(cluster, spec, expected, tmp_path):
    class KilledError(Exception):
        pass

    def stop():
        raise KilledError

    with pytest.raises(KilledError):
        run(spec, out=tmp_path, watch=once(70, stop))
    with pytest.raises(KilledError):
        run(spec, out=tmp_path, engine=ENGINE, watch=once(50, stop))
    seen = []
    assert lines_of(run(spec, out=tmp_path, watch=seen.append)) == expected
    assert seen[0].done == 121


def test_the_command_line_on_a_cluster_prints_nothing_but_the_result(cluster, spec, expected, tmp_path):
    flags = ["--model", "toy", "--views", "16", "--engine", "ray", "--ray-address", cluster.address, "--format", "json"]
    command = [sys.executable, "-m", "viewvote", "eval", "--dataset", spec.dataset, *flags, "--out", str(tmp_path)]
    done = subprocess.run([*command, "--limit", "70"], capture_output=True, timeout=300)
    assert done.returncode == 1, done.stderr  # of the spoilt image
    (summary,) = json.loads(done.stdout)
    assert lines_of(summary["path"]) == expected[::3]


def test_what_an_actor_cannot_load_is_told(cluster, spec, tmp_path):
    with pytest.raises(RunError, match=r"a Ray actor cannot work: .*nowhere"):
        run(replace(spec, model="onnx:/nowhere"), out=tmp_path, engine=ENGINE)


def test_more_than_the_cluster_has_is_refused_at_once(cluster, spec, tmp_path):
    with pytest.raises(
        RunError, match=r"needs 1 CPU and 0\.5 GPU, but no node .* \(they have 1 CPU, 0 GPU; 2 CPU, 0 GPU\)"
    ):
        run(spec, out=tmp_path, engine=RayEngine(gpus_per_actor=0.5))
    with pytest.raises(RunError, match="needs 3 CPU and 0 GPU"):  # two nodes together have them, but none alone
        run(spec, out=tmp_path, engine=RayEngine(cpus_per_actor=3))


def test_streams_are_refused(spec, tmp_path):
    with pytest.raises(UsageError, match="'dota' learns from one image to the next"):
        run(replace(spec, method="dota"), out=tmp_path, engine=ENGINE)


def test_a_lost_node_loses_nothing(cluster, spec, expected, tmp_path):
    def lose():
        cluster.remove_node(cluster.second, allow_graceful=False)

    assert lines_of(run(spec, out=tmp_path, engine=ENGINE, watch=once(5, lose))) == expected
