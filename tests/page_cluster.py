"""A Ray and an S3 of this machine, for the pages that speak of a cluster: `python -m tests.page_cluster`.

A process of its own, started where the photographs of the pages are. It prints the environment that leads to both, and
ends with them when its standard input does, which is also when the tests are killed.
"""

import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep

from benchmarks.stores import s3

ROOT = Path(__file__).parents[1]
KEYS = {"AWS_ACCESS_KEY_ID": "any", "AWS_SECRET_ACCESS_KEY": "any", "AWS_DEFAULT_REGION": "us-east-1"}
MODE = "RAY_AUTH_MODE"
RAY = {
    MODE: "token",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_worker_niceness": "0",  # else what else is at work starves the workers
    "RAY_memory_monitor_refresh_ms": "0",  # nor do they end because others have the memory
}
TOKEN = ("ray", "get-auth-token", "--generate")
HEAD = ("ray", "start", "--head", "--disable-usage-stats")
STARTED = (("export", f"{MODE}={RAY[MODE]}"), TOKEN, HEAD)
"""The lines of the page of clusters that are run here, before the page."""
OPTIONS = (
    "--block",
    "--port=0",
    "--include-dashboard=false",
    "--object-store-memory=200000000",
    "--num-cpus=6",  # room for two actors of two, and for what reads and writes beside them
)


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


def program(words):
    """The words with the program beside this interpreter."""
    return [str(Path(sys.executable).with_name(words[0])), *words[1:]]


def free_port():
    """A port that nobody listens at."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return listening.getsockname()[1]


@contextmanager
def head(folder: Path) -> Iterator[dict[str, str]]:
    """Ray as the page starts it, with a key and ports of its own; yields the environment that leads to it."""
    subprocess.run(program(TOKEN), env=os.environ | {"HOME": str(folder)}, check=True, stdout=subprocess.DEVNULL)
    key = {"RAY_AUTH_TOKEN_PATH": str(folder / ".ray" / "auth_token")}
    place = [f"--temp-dir={folder}", f"--ray-client-server-port={free_port()}"]
    with (folder / "head.log").open("wb") as log:
        process = subprocess.Popen(program(HEAD + OPTIONS) + place, env=os.environ | key, stdout=log, stderr=log)
    try:
        end = monotonic() + 300
        while "will now block" not in (text := (folder / "head.log").read_text()):
            if process.poll() is not None or monotonic() > end:
                raise RuntimeError(f"Ray did not start: {text}")
            sleep(0.2)
        yield key | {"RAY_ADDRESS": (folder / "ray_current_cluster").read_text().split()[0]}
    finally:
        process.terminate()
        process.wait(100)


def serve():
    """Both, until standard input ends."""
    os.environ.update(KEYS | RAY)
    with s3() as (_, address), tempfile.TemporaryDirectory(prefix="ray-", ignore_cleanup_errors=True) as folder:
        os.environ["AWS_ENDPOINT_URL"] = address
        fill(Path.cwd())
        with head(Path(folder)) as leads:
            sys.stdout.write(json.dumps(KEYS | RAY | {"AWS_ENDPOINT_URL": address} | leads) + "\n")
            sys.stdout.flush()
            sys.stdin.read()


if __name__ == "__main__":
    serve()
