"""Images behind addresses: only when asked for, only http and https, within bytes and seconds."""

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.images.pictures import GREEN, encoded, picture
from viewvote import Classifier, ImageLimits
from viewvote.errors import ImageTooLargeError, UnreadableImageError, UsageError
from viewvote.images.urls import fetch, is_url

PNG = encoded(picture(GREEN))


class Site(BaseHTTPRequestHandler):
    """Pictures, redirections, and senders that never end."""

    def do_GET(self):
        self.server.asked.append(self.path)
        if self.path.startswith("/to/"):
            self.send_response(302)
            self.send_header("Location", self.path.removeprefix("/to/"))
            self.end_headers()
        elif self.path == "/picture.png":
            self.send_response(200)
            self.end_headers()
            self.wfile.write(PNG)
        elif self.path == "/slow":
            self.send_response(200)
            self.end_headers()
            while not self.server.stop.wait(0.02):
                self.wfile.write(b"x")
        else:
            self.send_error(404)

    def log_message(self, *_):
        pass


@contextmanager
def serving():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    server.asked, server.stop = [], threading.Event()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server, f"http://127.0.0.1:{server.server_port}"
    finally:
        server.stop.set()
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def site(monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with serving() as found:
        yield found


def test_nothing_is_fetched_unless_asked_for(site):
    server, address = site
    clf = Classifier("toy", labels=["red", "green"], n_views=4)
    with pytest.raises(UsageError, match=r"is an address, and nothing is fetched.*allow_urls=True"):
        clf(f"{address}/picture.png")
    (error,) = clf.predict_many([f"{address}/picture.png"], on_error="return")
    assert isinstance(error, UsageError)
    assert server.asked == []


def test_asked_for_they_are_images_like_others(site):
    _, address = site
    clf = Classifier("toy", labels=["red", "green"], n_views=4, allow_urls=True)
    prediction = clf(f"{address}/picture.png")
    assert (prediction.label, prediction.path) == ("green", f"{address}/picture.png")
    assert [p.label for p in clf.predict_many([f"{address}/picture.png", PNG])] == ["green", "green"]
    assert clf.with_labels(["blue", "green"])(f"{address}/picture.png").label == "green"
    assert clf.encode([f"{address}/picture.png"]).paths == (f"{address}/picture.png",)
    with pytest.raises(UsageError, match="not at hand"):
        prediction.explain()


def test_redirections_lead_to_http_only(site, tmp_path):
    _, address = site
    (tmp_path / "secret.png").write_bytes(PNG)
    assert fetch(f"{address}/to//picture.png").read() == PNG
    for target in (f"file://{tmp_path}/secret.png", "ftp://127.0.0.1/secret.png", "data:image/png;base64,aaaa"):
        with pytest.raises(UnreadableImageError, match="cannot fetch"):
            fetch(f"{address}/to/{target}")


def test_what_is_missing_too_large_or_too_slow_is_an_error_that_names_it(site):
    _, address = site
    with pytest.raises(UnreadableImageError, match=r"cannot fetch .*/none: 404 Not Found"):
        fetch(f"{address}/none")
    with pytest.raises(ImageTooLargeError, match=r"/picture\.png has more than 20 bytes"):
        fetch(f"{address}/picture.png", limits=ImageLimits(max_bytes=20))
    with pytest.raises(UnreadableImageError, match=r"/slow: it took longer than 0\.2 seconds"):
        fetch(f"{address}/slow", seconds=0.2)
    with pytest.raises(UnreadableImageError, match=r"cannot fetch http://127\.0\.0\.1:1/x"):
        fetch("http://127.0.0.1:1/x")
    with pytest.raises(UnreadableImageError, match="cannot fetch"):
        fetch("http://[x/")


@pytest.mark.parametrize("seconds", [0, -1, float("nan")])
def test_a_time_is_a_number_above_zero(seconds):
    with pytest.raises(UsageError, match="url_timeout"):
        Classifier("toy", labels=["red"], url_timeout=seconds)


def test_only_http_addresses_count():
    assert is_url("https://example.org/a.png")
    assert is_url("HTTP://example.org/a.png")
    for other in ("file:///etc/passwd", "ftp://x/y", "http.png", "//host/x", b"http://x/", None):
        assert not is_url(other)
