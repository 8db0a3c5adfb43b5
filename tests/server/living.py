"""A service that runs: a real socket on loopback, the toy encoder, and a client of a few lines."""

import base64
import http.client
import json
import socket
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from time import monotonic, sleep
from uuid import uuid4

import uvicorn

from tests.images.pictures import encoded, picture
from viewvote import ToyEncoder
from viewvote.server.app import create_app
from viewvote.server.protocol import TimedProtocol
from viewvote.server.run import listen
from viewvote.server.service import Service
from viewvote.server.settings import Settings

COLOURS = ("red", "green", "blue")
SETTINGS = Settings(model="toy", labels=COLOURS, views=8, port=0)


class Turnstile(ToyEncoder):
    """A toy that encodes one batch whenever it is let."""

    def __init__(self):
        super().__init__()
        self.turns = threading.Semaphore(0)

    def encode_images(self, views):
        assert self.turns.acquire(timeout=60)
        return super().encode_images(views)

    def let(self, batches):
        self.turns.release(batches)


@dataclass
class Answer:
    status: int
    headers: dict
    body: bytes

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def events(self):
        """The events of a stream as (name, data)."""
        blocks = [block for block in self.body.decode().split("\n\n") if block and not block.startswith(":")]
        parsed = []
        for block in blocks:
            name, data = block.split("\n")
            parsed.append((name.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
        return parsed


@dataclass
class Client:
    """Calls one service; `service` is the object behind it."""

    port: int
    service: Service
    headers: dict = field(default_factory=dict)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)

    def call(self, method, path, body=None, headers=None):
        connection = self.connect()
        try:
            connection.request(method, path, body, self.headers | (headers or {}))
            found = connection.getresponse()
            return Answer(found.status, {k.lower(): v for k, v in found.getheaders()}, found.read())
        finally:
            connection.close()

    def get(self, path, **headers):
        return self.call("GET", path, headers=headers)

    def post_json(self, path, values, headers=None):
        return self.call("POST", path, json.dumps(values), {"Content-Type": "application/json"} | (headers or {}))

    def post_image(self, path, data, headers=None):
        return self.call("POST", path, data, {"Content-Type": "image/png"} | (headers or {}))

    def post_form(self, path, files, fields=(), headers=None):
        body, kind = form(files, fields)
        return self.call("POST", path, body, {"Content-Type": kind} | (headers or {}))

    def classify(self, *images, path="/v1/classify", **options):
        return self.post_json(path, {"images": [base64.b64encode(i).decode() for i in images], **options})


def form(files, fields=()):
    """A multipart body of (name, file name, bytes) and (name, text), and its content type."""
    boundary = uuid4().hex
    start = f"--{boundary}\r\nContent-Disposition: form-data; name="
    parts = [f'{start}"{name}"\r\n\r\n{text}\r\n'.encode() for name, text in fields]
    for name, file, data in files:
        head = f'{start}"{name}"; filename="{file}"\r\n'
        parts.append(f"{head}Content-Type: application/octet-stream\r\n\r\n".encode() + data + b"\r\n")
    return b"".join(parts) + f"--{boundary}--\r\n".encode(), f"multipart/form-data; boundary={boundary}"


@contextmanager
def running(encoder=None, *, teacher=None, **settings):
    """A client of a service with the toy encoder, on a port of its own."""
    service = Service(replace(SETTINGS, **settings), encoder=encoder or ToyEncoder(), teacher=teacher)
    listening = listen(service.settings)
    config = uvicorn.Config(
        create_app(service), http=TimedProtocol, ws="none", log_config=None, lifespan="on", timeout_graceful_shutdown=5
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listening],))
    thread.start()
    try:
        wait_until(lambda: server.started or not thread.is_alive())
        assert server.started
        yield Client(listening.getsockname()[1], service)
    finally:
        server.should_exit = True
        thread.join(30)
        assert not thread.is_alive()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_until(true, *, seconds=30):
    """Returns when `true()` is; fails if that takes too long."""
    end = monotonic() + seconds
    while not true():
        assert monotonic() < end, "waited for nothing"
        sleep(0.005)


def png(colour=(250, 0, 0), size=(40, 30)):
    return encoded(picture(colour, size))


def without_timings(prediction):
    return {key: value for key, value in prediction.items() if key != "timings"}
