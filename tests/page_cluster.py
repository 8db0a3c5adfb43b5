"""A Ray and an S3 of this machine, for the pages that speak of a cluster: `python -m tests.page_cluster`.

A process of its own, started where the photographs of the pages are. It prints the environment that leads to both, and
ends with them when its standard input does, which is also when the tests are killed.
"""

import json
import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

from benchmarks.stores import s3

ROOT = Path(__file__).parents[1]
KEYS = {"AWS_ACCESS_KEY_ID": "any", "AWS_SECRET_ACCESS_KEY": "any", "AWS_DEFAULT_REGION": "us-east-1"}
RAY = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_worker_niceness": "0",  # else what else is at work starves the workers
    "RAY_memory_monitor_refresh_ms": "0",  # nor do they end because others have the memory
}
CPUS = 6
"""As Ray counts them: room for two actors of two, and for what reads and writes beside them."""


@contextmanager
def at_hand(folder, **more):
    """Yields the environment that leads to both; the folder's photographs are in the store. Nodes have `more` set."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.page_cluster"],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])} | more,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        line = next((line for line in process.stdout if line.startswith("{")), None)  # Ray may say something before
        assert line, "Ray and the store did not start"
        yield json.loads(line)
    finally:
        process.stdin.close()
        try:
            process.wait(120)
        finally:
            process.kill()
            process.stdout.close()
            process.wait()


def fill(folder):
    """A bucket with two shards and two photographs."""
    import fsspec

    store = fsspec.filesystem("s3")
    store.mkdir("bucket")
    for i in range(2):
        store.put_file(str(folder / "shards" / f"00{i}.tar"), f"bucket/shards/0000{i}.tar")
        store.put_file(str(folder / "photos" / "cat" / f"0{i}.jpg"), f"bucket/photos/{i}.jpg")


def serve():
    """Both, until standard input ends."""
    os.environ.update(KEYS | RAY)
    with s3() as (_, address):
        os.environ["AWS_ENDPOINT_URL"] = address
        fill(Path.cwd())
        from ray.cluster_utils import Cluster

        node = {"num_cpus": CPUS, "include_dashboard": False, "object_store_memory": 200_000_000}
        cluster = Cluster(initialize_head=True, head_node_args=node)
        try:
            leads = KEYS | RAY | {"AWS_ENDPOINT_URL": address, "RAY_ADDRESS": cluster.address}
            sys.stdout.write(json.dumps(leads) + "\n")
            sys.stdout.flush()
            sys.stdin.read()
        finally:
            cluster.shutdown()


if __name__ == "__main__":
    serve()
