"""What is refused before any image is looked at: shapes, sizes, speeds."""

import json
import socket
import threading
from contextlib import ExitStack, closing

import pytest

from tests.server.living import form, png, running, wait_until
from viewvote.server.settings import Limits


@pytest.mark.parametrize("kind", ["text/plain", "application/xml", "", "multipart/mixed; boundary=x"])
def test_other_content_types_are_refused(client, kind):
    answer = client.call("POST", "/v1/classify", png(), {"Content-Type": kind})
    assert (answer.status, answer.json["code"]) == (415, "unsupported_media_type")
    assert "multipart/form-data" in answer.json["error"]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "the body is not JSON"),
        (b"{", "the body is not JSON"),
        (b"\xff", "the body is not JSON"),
        (b"[" * 100_000, "the body is not JSON"),
        (b"[]", "the body must be a JSON object; got list."),
        (b"{}", '"images" must be a list of base64 texts'),
        (b'{"images": []}', "the request has no image"),
        (b'{"images": [1]}', '"images" must be a list of base64 texts'),
        (b'{"images": [""]}', "an image is empty"),
        (b'{"images": ["%%%"]}', "an image is not base64"),
        (b'{"images": ["https://example.org/a.png"]}', "images are not fetched from URLs"),
        (b'{"images": ["file:///etc/passwd"]}', "images are not fetched from URLs"),
        (b'{"images": ["data:image/png,abc"]}', "a data: URL must be of the form"),
        (b'{"images": ["/etc/hostname"]}', "an image"),
        (json.dumps({"images": ["aaaa"] * 33}).encode(), "33 images are too many for one request; the limit is 32."),
        (b'{"images": ["aaaa"], "seed": ' + b"9" * 5000 + b"}", "the body is not JSON"),
    ],
)
def test_damaged_json_is_told_in_words(client, body, words):
    answer = client.call("POST", "/v1/classify", body, {"Content-Type": "application/json"})
    assert answer.status == 422
    assert words in answer.json["error"]
    assert len(answer.json["error"]) < 1100


def test_forms_that_are_none(client):
    good, kind = form([("image", "a.png", png())])
    for body, content_type, words in [
        (good, "multipart/form-data", "its content type names no boundary"),
        (b"nothing", "multipart/form-data; boundary=x", "the form cannot be read: "),
        (b"", "multipart/form-data; boundary=x", "it ends in the middle"),
        (good[:100], kind, "it ends in the middle"),
        (good[:-20], kind, "it ends in the middle"),
        (good.replace(b"form-data; name", b"x" * 9000 + b"; name"), kind, "the form cannot be read: "),
        (form([], [("labels", "cat")] * 1100)[0], None, "more than 1032 parts"),
        (form([], [("labels", "cat")])[0].replace(b"cat", b"\xff"), None, "form field 'labels' is not UTF-8"),
        (form([("photo", "a.png", png())])[0], None, "file part 'photo' is unknown"),
        (form([], [("image", "text")])[0], None, "part 'image' has no file name"),
        (form([("image", "a.png", b"")])[0], None, "a.png is empty"),
        (form([], [("labels", "cat")])[0], None, "the request has no image"),
        (form([("image", "a.png", png())], [("views", "8"), ("views", "9")])[0], None, "option 'views' is given twice"),
        (form([("image", "a.png", png())], [("labels", "[1]")])[0], None, "option 'labels' must be a list of texts"),
        (form([("image", f"{i}.png", png()) for i in range(33)])[0], None, "33 images are too many"),
    ]:
        content_type = content_type or "multipart/form-data; boundary=" + body[2:34].decode()
        answer = client.call("POST", "/v1/classify", body, {"Content-Type": content_type})
        assert answer.status == 422, (words, answer.body)
        assert words in answer.json["error"]


def test_an_option_in_the_address_and_in_the_body_is_a_mistake(client):
    answer = client.post_json("/v1/classify?views=8", {"images": ["aaaa"], "views": 9})
    assert (answer.status, answer.json["error"]) == (
        422,
        "option 'views' is given twice, in the address and in the body; give it once.",
    )


def test_a_file_name_is_repeated_and_never_opened(client, tmp_path):
    there = tmp_path / "there.png"
    there.write_bytes(png())
    answer = client.post_form("/v1/classify", [("image", str(there), b"no picture")])
    assert answer.status == 422
    assert "not an image" in answer.json["error"]


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    with running(limits=Limits(bytes=10_000, pixels=1000), body_seconds=0.5) as client:
        yield client


def start_request(connection, *, length, body=b""):
    """Announce a body of that length and send the start of it."""
    connection.putrequest("POST", "/v1/classify")
    connection.putheader("Content-Type", "image/png")
    connection.putheader("Content-Length", str(length))
    connection.endheaders(body)


def test_a_body_that_is_announced_too_large_is_refused_unread(small):
    with closing(small.connect()) as connection:
        start_request(connection, length=10_001)  # and not one byte of the body
        answer = connection.getresponse()
        assert answer.status == 413
        assert json.loads(answer.read())["code"] == "request_too_large"


def test_a_client_that_sends_far_too_much_still_gets_its_answer(small):
    for _ in range(5):
        answer = small.post_image("/v1/classify", b"x" * 5_000_000)
        assert (answer.status, answer.json["code"]) == (413, "request_too_large")


def test_what_is_left_of_a_refused_body_is_not_awaited_for_ever(monkeypatch):
    monkeypatch.setattr("viewvote.server.protocol.HEADER_SECONDS", 0.3)
    with running(limits=Limits(bytes=10_000)) as client, closing(client.connect()) as connection:
        start_request(connection, length=10_001, body=b"x" * 10)
        answer = connection.getresponse()
        assert (answer.status, json.loads(answer.read())["code"]) == (413, "request_too_large")
        assert connection.sock.recv(1) == b""


@pytest.mark.parametrize("kind", ["image/png", "application/json", "multipart/form-data; boundary=x"])
def test_a_body_of_unknown_length_is_counted_while_it_arrives(small, kind):
    head = b'--x\r\nContent-Disposition: form-data; name="image"; filename="a"\r\n\r\n'
    chunks = iter([head if "form" in kind else b"", *[b"x" * 1000] * 11])
    with closing(small.connect()) as connection:
        connection.request("POST", "/v1/classify", chunks, {"Content-Type": kind}, encode_chunked=True)
        answer = connection.getresponse()
        assert answer.status == 413
        assert "more than 10,000 bytes, which is the limit" in json.loads(answer.read())["error"]
    assert small.service.engine.admitted == 0


def test_an_image_of_too_many_pixels_is_refused(small):
    answer = small.classify(png(size=(40, 30)))
    assert (answer.status, answer.json["code"]) == (413, "image_too_large")
    assert "40 x 30 pixels; the limit is 1,000 pixels" in answer.json["error"]


def test_a_body_that_does_not_arrive_is_given_up(small):
    with closing(small.connect()) as connection:
        start_request(connection, length=100, body=b"only a little")
        answer = connection.getresponse()
        assert (answer.status, json.loads(answer.read())["code"]) == (408, "slow_request")


def test_bodies_of_all_requests_together_are_bounded(small):
    with ExitStack() as stack:
        waiting = [stack.enter_context(closing(small.connect())) for _ in range(8)]
        for connection in waiting:
            start_request(connection, length=10_000, body=b"x" * 9999)
        late = small.post_image("/v1/classify", b"x" * 9000)
        statuses = [connection.getresponse().status for connection in waiting]
    assert late.status == 429
    assert late.headers["retry-after"] == "1"
    assert set(statuses) == {408}
    assert small.classify(png(size=(8, 8))).status == 200


def test_headers_that_do_not_arrive_close_the_connection(monkeypatch):
    monkeypatch.setattr("viewvote.server.protocol.HEADER_SECONDS", 0.3)
    with running() as client:
        for sent in (b"", b"POST /v1/classify HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "):
            with socket.create_connection(("127.0.0.1", client.port), timeout=10) as slow:
                slow.sendall(sent)
                assert slow.recv(1) == b""
        with socket.create_connection(("127.0.0.1", client.port), timeout=10) as kept:
            for _ in range(2):
                kept.sendall(b"GET /health/live HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
                received = b""
                while b"live" not in received:
                    received += kept.recv(65536)
                assert received.startswith(b"HTTP/1.1 200")


def test_a_request_that_is_no_http_does_not_disturb_the_others(client):
    long = b"GET /" + b"x" * 100_000 + b" HTTP/1.1\r\n\r\n"
    for sent in (b"\x16\x03\x01\x02\x00", b"GET / HTTP/1.1\r\nHost: a\x00b\r\n\r\n", long):
        with socket.create_connection(("127.0.0.1", client.port), timeout=10) as other:
            other.sendall(sent)
            assert other.recv(65536).startswith(b"HTTP/1.1 400")
    assert client.get("/health/live").status == 200
    assert threading.active_count() < 100


def test_a_body_that_breaks_the_protocol_gets_one_answer_and_no_traceback(client, caplog):
    head = b"POST /v1/classify HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: image/png\r\n"
    head += b"Transfer-Encoding: chunked\r\n\r\n"
    with socket.create_connection(("127.0.0.1", client.port), timeout=10) as other:
        other.sendall(head + b"5\r\nhello\r\n")
        wait_until(lambda: b"viewvote" in client.get("/metrics").body)
        other.sendall(b"no length\r\n")
        received = b""
        while piece := other.recv(65536):
            received += piece
    assert received.startswith(b"HTTP/1.1 400")
    assert received.count(b"HTTP/1.1") == 1
    assert client.get("/health/ready").status == 200
    assert "Traceback" not in caplog.text
