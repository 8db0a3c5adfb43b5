"""Stores on loopback that fail now and then: S3 as moto serves it, and web servers with and without ranges."""

import random
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from urllib.request import Request, urlopen

FAILS_IN = 20
"""One request in so many fails."""


class Faulty:
    """A WSGI application whose answers are errors or cut off now and then, at random but the same in every run."""

    def __init__(self, app, *, seed=0):
        self._app = app
        self._random = random.Random(seed)
        self._lock = threading.Lock()
        self.requests = self.failed = self.cut = 0
        self.at_work = False

    def __call__(self, environ, start_response):
        with self._lock:
            self.requests += 1
            chance = self._random.random() if self.at_work else 1.0
        if chance < 1 / FAILS_IN:
            self.failed += 1
            start_response("500 Internal Server Error", [("Content-Length", "0"), ("Connection", "close")])
            return [b""]
        body = b"".join(self._app(environ, start_response))
        if chance < 2 / FAILS_IN and environ["REQUEST_METHOD"] == "GET" and len(body) > 1:
            self.cut += 1  # the header still has the whole length
            return [body[: len(body) // 2]]
        return [body]


@contextmanager
def s3():
    """Yields the faulty application, its address and a bucket named `photos`; the environment must have keys."""
    from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
    from werkzeug.serving import WSGIRequestHandler, make_server

    class Quiet(WSGIRequestHandler):
        def log(self, *args):
            pass

    app = Faulty(DomainDispatcherApplication(create_backend_app))
    server = make_server("127.0.0.1", 0, app, threaded=True, request_handler=Quiet)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    urlopen(
        Request(f"http://127.0.0.1:{server.server_port}/moto-api/reset", method="POST")
    ).close()  # one state a process
    try:
        yield app, f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def web(files, *, ranges, fails=()):
    """A web server of path -> bytes; requests whose number is in `fails` get half an answer. Yields its address."""
    numbers = count()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self):
            self.answer(body=False)

        def do_GET(self):
            self.answer(body=True)

        def answer(self, *, body):
            data = files.get(self.path)
            if data is None:
                self.send_error(404)
                return
            wanted = self.headers.get("Range")
            status, start, end = 200, 0, len(data)
            if ranges and wanted:
                first, _, last = wanted.removeprefix("bytes=").partition("-")
                status, start, end = 206, int(first), min(len(data), int(last) + 1) if last else len(data)
            self.send_response(status)
            self.send_header("Content-Length", str(end - start))
            self.send_header("Content-Type", "text/html" if self.path.endswith("/") else "application/octet-stream")
            if ranges:
                self.send_header("Accept-Ranges", "bytes")
            if status == 206:
                self.send_header("Content-Range", f"bytes {start}-{end - 1}/{len(data)}")
            self.end_headers()
            if not body:
                return
            if next(numbers) in fails:
                self.wfile.write(data[start : (start + end) // 2])
                self.close_connection = True
                return
            self.wfile.write(data[start:end])

        def log_message(self, *args):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
