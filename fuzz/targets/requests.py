"""Bytes on the socket of a service: every answer has a documented status, and the service lives on."""

import base64
import json
import random
import re
import socket
import threading
from functools import cache

import uvicorn

from benchmarks.serve_hostile import ALLOWED, MAKERS, request, seeds_of
from viewvote.server.app import create_app
from viewvote.server.protocol import TimedProtocol
from viewvote.server.run import listen, write_log
from viewvote.server.service import Service
from viewvote.server.settings import Limits, Settings

from ..mutators import mutated_bytes

__all__ = ["SECONDS", "THREADS", "mutate", "run", "seeds"]

SECONDS = 60.0
THREADS = 64
PATIENCE = 1.0
"""Seconds to wait for an answer: to half a request there is none."""


@cache
def _pictures() -> list[bytes]:
    return seeds_of(None)


def seeds(rng: random.Random) -> list[bytes]:
    """One good request of every shape, and hostile ones."""
    image = _pictures()[1]
    body = {"images": [base64.b64encode(image).decode()], "labels": ["red", "green"], "views": 2}
    good = [
        request("/v1/classify", json.dumps(body).encode(), "application/json"),
        request("/v1/classify/stream", json.dumps(body).encode(), "application/json"),
        request("/v1/explain", image, "image/png"),
        b"GET /health/ready HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n",
    ]
    return good + [maker(rng, _pictures()) for maker, _ in MAKERS for _ in range(4)]


def mutate(data: bytes, rng: random.Random) -> bytes:
    """The bytes changed; half the time another hostile request altogether."""
    if rng.random() < 0.5:
        (maker,) = rng.choices([maker for maker, _ in MAKERS], [weight for _, weight in MAKERS])
        return maker(rng, _pictures())
    head, end, body = data.partition(b"\r\n\r\n")
    if rng.random() < 0.5 and end:
        return mutated_bytes(head, rng) + end + body
    return head + end + mutated_bytes(body, rng)


@cache
def _port() -> int:
    """The port of a service in this process."""
    write_log(verbose=False)
    settings = Settings(
        model="toy", labels=("red", "green"), views=2, port=0, limits=Limits(bytes=3_000_000), body_seconds=1.0
    )
    listening = listen(settings)
    config = uvicorn.Config(
        create_app(Service(settings)), http=TimedProtocol, log_config=None, access_log=False, lifespan="on"
    )
    threading.Thread(target=uvicorn.Server(config).run, args=([listening],), daemon=True).start()
    return int(listening.getsockname()[1])


def run(data: bytes) -> None:
    """Send the bytes, read what comes, and ask whether the service is well."""
    status = _status(data)
    assert status in ALLOWED | {0}, f"status {status}"
    health = _status(b"GET /health/live HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n", patience=SECONDS)
    assert health == 200, f"the service is not well: {health}"


def _status(data: bytes, *, patience: float = PATIENCE) -> int:
    """The status of the answer; 0 where there was none in time."""
    with socket.create_connection(("127.0.0.1", _port()), timeout=10) as client:
        client.settimeout(patience)
        answer = b""
        try:
            client.sendall(data)
            while len(answer) < 4096 and (part := client.recv(65536)):
                answer += part
        except OSError:
            pass
    found = re.match(rb"HTTP/1\.1 (\d{3})", answer)
    return int(found[1]) if found else 0
