"""Kills `viewvote serve` with SIGKILL under load, again and again, and starts it anew on the same port and folders.

Four clients ask all the time. Every answer that came whole must be the one of a service that nobody interrupts; after
each kill the next service must get its port, and nothing may lie in the folder for temporary files. Some kills come
while the service starts. The campaign is a line of the ledger: kills, answers, requests cut off, answers that differ,
files left. Without --kills the table of all campaigns is made from the ledger.
"""

import argparse
import http.client
import io
import json
import random
import socket
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from .campaigns import Line, add_campaign, campaigns, next_seed, total, versions
from .forked import Forked, import_everything
from .sections import add_write, section

CLIENTS = 4
IMAGES = 24
WHILE_STARTING = 0.15
READY_SECONDS = 300.0
WRONG = ("answers_that_differ", "files_left", "caches_that_differ")


def pictures() -> list[bytes]:
    """Noisy PNGs in three colours."""
    rng, found = np.random.default_rng(0), []
    for i in range(IMAGES):
        pixels = rng.integers(0, 120, (48, 64, 3), dtype=np.uint8)
        pixels[:, : rng.integers(8, 56), i % 3] += 100
        out = io.BytesIO()
        Image.fromarray(pixels).save(out, "PNG")
        found.append(out.getvalue())
    return found


def names_in(folder: Path) -> list[str]:
    """What lies in a folder."""
    return sorted(path.name for path in folder.iterdir())


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def started(port: int, folder: Path) -> Forked:
    """A service whose temporary and cached files lie in `folder`."""
    words = ["serve", "--model", "toy", "--labels", "red,green,blue", "--views", "8", "--port", str(port), "--quiet"]
    places = {"TMPDIR": str(folder / "tmp"), "VIEWVOTE_CACHE": str(folder / "cache")}
    return Forked(words, environment=places)


def answer_of(port: int, image: bytes) -> Any:
    """The predictions for an image; OSError or HTTPException where the answer did not come whole."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request("POST", "/v1/classify", image, {"Content-Type": "image/png"})
        answer = connection.getresponse()
        body = json.loads(answer.read())
        return answer.status, without_times(body)
    finally:
        connection.close()


def without_times(value: Any) -> Any:
    """The answer without what is another every time."""
    if isinstance(value, dict):
        return {
            name: without_times(one)
            for name, one in value.items()
            if name not in ("id", "timings", "seconds", "request_id")
        }
    return [without_times(one) for one in value] if isinstance(value, list) else value


def wait_until_ready(process: Forked, port: int) -> None:
    """Wait for the service; it may not end meanwhile."""
    end = time.monotonic() + READY_SECONDS
    while time.monotonic() < end:
        assert process.poll() is None, f"the service ended with {process.poll()}"
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            connection.request("GET", "/health/ready")
            if connection.getresponse().status == 200:
                return
        except (OSError, http.client.HTTPException):
            pass
        finally:
            connection.close()
        time.sleep(0.01)
    raise AssertionError("the service was not ready in time")


@contextmanager
def asking(port: int, images: list[bytes], expected: list[Any], totals: Counter[str]) -> Iterator[None]:
    """Clients that ask until the block ends."""
    done, lock = threading.Event(), threading.Lock()

    def client(seed: int) -> None:
        rng = random.Random(seed)
        while not done.is_set():
            i = rng.randrange(len(images))
            try:
                same = answer_of(port, images[i]) == expected[i]
            except (OSError, http.client.HTTPException, ValueError):
                with lock:
                    totals["cut_off"] += 1
                done.wait(0.02)
                continue
            with lock:
                totals["answers"] += 1
                totals["answers_that_differ"] += not same

    threads = [threading.Thread(target=client, args=[i]) for i in range(CLIENTS)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        done.set()
        for thread in threads:
            thread.join()


def campaign(kills: int, rng: random.Random) -> Counter[str]:
    """Kill as often as asked; an answer of every image is compared at the end."""
    import_everything()
    totals, images, port = Counter[str](), pictures(), free_port()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for place in ("tmp", "cache"):
            (folder / place).mkdir()
        process = started(port, folder)
        wait_until_ready(process, port)
        expected = [answer_of(port, image) for image in images]
        assert all(status == 200 for status, _ in expected)
        cached = names_in(folder / "cache")
        for _ in range(kills):
            if rng.random() < WHILE_STARTING:
                process.kill()
                process = started(port, folder)
                time.sleep(rng.uniform(0, 0.5))
                totals["while_starting"] += 1
            else:
                with asking(port, images, expected, totals):
                    time.sleep(rng.uniform(0.02, 0.6))
                    process.kill()
            totals["kills"] += 1
            process.kill()
            totals["files_left"] += len(names_in(folder / "tmp"))
            totals["caches_that_differ"] += names_in(folder / "cache") != cached
            process = started(port, folder)
            wait_until_ready(process, port)
        totals["answers_that_differ"] += sum(answer_of(port, i) != e for i, e in zip(images, expected, strict=True))
        process.kill()
    return totals


def table(lines: Iterable[Line]) -> Iterator[str]:
    """One row: all campaigns."""
    yield (
        "| command | kills | while it started | whole answers | cut off | answers that differ | files left "
        "| caches that differ | version |"
    )
    yield "|---|---|---|---|---|---|---|---|---|"
    some = list(lines)
    counts = " | ".join(f"{total(some, name):,}" for name in ("kills", "while_starting", "answers", "cut_off", *WRONG))
    yield f"| `serve` | {counts} | {versions(some)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--seed", type=int, help="by default one that no campaign of the ledger had")
    add_write(parser)
    args = parser.parse_args()
    place, failed = section("benchmarks.kill_service", write=args.write), False
    if args.kills:
        seed = next_seed("serve") if args.seed is None else args.seed
        totals = campaign(args.kills, random.Random(seed))
        print(json.dumps(add_campaign("serve", seed, dict(totals))))
        failed = any(totals[name] for name in WRONG)
    place.show(table(campaigns("serve")))
    sys.exit(int(failed))


if __name__ == "__main__":
    main()
