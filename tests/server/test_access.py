"""Safe by default: loopback, keys, host names, pages of other sites, headers, logs."""

import logging

import pytest

from tests.server.living import png, running, wait_until
from viewvote.errors import UsageError
from viewvote.server.access import matches, read_keys
from viewvote.server.settings import Limits, Settings, is_loopback

KEYS = ("a-key-that-nobody-guesses", "another-key-for-the-rotation")


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.7", "::", "example.org", ""])
def test_other_addresses_than_loopback_need_a_key(host):
    assert not is_loopback(host)
    with pytest.raises(UsageError, match="give --api-key-file FILE"):
        Settings(host=host)
    assert Settings(host=host, api_keys=KEYS).host == host


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "::1", "[::1]", "localhost"])
def test_loopback_needs_none(host):
    assert Settings(host=host).api_keys == ()


def test_settings_that_cannot_work_are_mistakes():
    with pytest.raises(UsageError, match="less than the 32 images"):
        Settings(max_queue=5)
    with pytest.raises(UsageError, match="above 0 seconds"):
        Settings(timeout=0)
    with pytest.raises(UsageError, match="limit of label chars must be at least 1"):
        Limits(label_chars=0)


def test_settings_travel_to_other_processes():
    settings = Settings(labels=("a", "b"), api_keys=KEYS, views="adaptive", limits=Limits(images=7))
    assert Settings.from_json(settings.to_json()) == settings
    assert KEYS[0] not in repr(settings)


@pytest.fixture(scope="module")
def locked():
    with running(api_keys=KEYS) as client:
        yield client


@pytest.mark.parametrize("path", ["/v1/classify", "/v1/classify/stream", "/v1/explain", "/", "/models/toy"])
def test_nothing_is_classified_without_a_key(locked, path):
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"X-API-Key": KEYS[0][:-1]}, {"Authorization": KEYS[0]}):
        answer = locked.post_image(path, png(), headers)
        assert (answer.status, answer.json["code"]) == (401, "unauthorized")
        assert answer.headers["www-authenticate"] == "Bearer"
        assert KEYS[0] not in answer.body.decode()


@pytest.mark.parametrize("path", ["/info", "/metrics", "/openapi.json"])
def test_what_tells_of_the_service_needs_a_key_too(locked, path):
    assert locked.get(path).status == 401
    assert locked.call("GET", path, headers={"X-API-Key": KEYS[1]}).status == 200


@pytest.mark.parametrize("path", ["/health/live", "/v2/health/ready", "/", "/examples/cat.jpg"])
def test_probes_and_the_page_need_none(locked, path):
    assert locked.get(path).status == 200


@pytest.mark.parametrize("key", KEYS)
def test_every_key_opens(locked, key):
    for headers in ({"Authorization": f"Bearer {key}"}, {"X-API-Key": key}, {"Authorization": f"bearer  {key} "}):
        assert locked.post_image("/v1/classify", png(), headers).status == 200


def test_all_keys_are_compared_in_full(monkeypatch):
    compared = []
    monkeypatch.setattr("hmac.compare_digest", lambda a, b: compared.append(b) or a == b)
    assert matches(b"one", [b"one", b"two", b"three"])
    assert compared == [b"one", b"two", b"three"]
    assert not matches(b"", [b"one"])


def test_key_files(tmp_path):
    file = tmp_path / "keys"
    file.write_text(f"# ours\n{KEYS[0]}\n\n  {KEYS[1]}  \n")
    assert read_keys(file) == KEYS
    for text, words in (
        ("", "has no API key"),
        ("# none\n", "has no API key"),
        ("short\n", "too short"),
        ("ü" * 20, "ASCII"),
    ):
        file.write_text(text, encoding="utf-8")
        with pytest.raises(UsageError, match=words):
            read_keys(file)
    with pytest.raises(UsageError, match="cannot read the API keys"):
        read_keys(tmp_path / "missing")


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example:80", "[::2]", "0.0.0.0"])
def test_a_name_that_was_bent_to_loopback_is_refused(client, host):
    answer = client.post_image("/v1/classify", png(), {"Host": host})
    assert (answer.status, answer.json["code"]) == (403, "forbidden")


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8008", "127.0.0.1:1", "[::1]:8008"])
def test_names_of_loopback_are_accepted(client, host):
    assert client.post_image("/v1/classify", png(), {"Host": host}).status == 200


def test_a_proxy_may_use_a_name_that_is_allowed():
    with running(allow_hosts=("Photos.Example",)) as client:
        assert client.call("GET", "/info", headers={"Host": "photos.example"}).status == 200
        assert client.call("GET", "/info", headers={"Host": "other.example"}).status == 403


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:1", "http://[", ""])
def test_pages_of_other_sites_may_not_ask(client, origin):
    answer = client.post_image("/v1/classify", png(), {"Origin": origin})
    assert (answer.status, answer.json["code"]) == (403, "forbidden")
    assert "access-control-allow-origin" not in answer.headers


def test_the_own_page_may_ask_and_no_other_is_ever_allowed_to(client):
    answer = client.post_image("/v1/classify", png(), {"Origin": client.url})
    assert answer.status == 200
    assert "access-control-allow-origin" not in answer.headers
    preflight = client.call("OPTIONS", "/v1/classify", headers={"Origin": client.url})
    assert preflight.status == 405


@pytest.mark.parametrize("path", ["/", "/info", "/nothing", "/health/live", "/examples/cat.jpg"])
def test_every_answer_has_headers_that_keep_browsers_safe(client, path):
    headers = client.get(path).headers
    policy = headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; ")
    assert "unsafe" not in policy
    assert "http" not in policy
    assert (headers["x-content-type-options"], headers["referrer-policy"]) == ("nosniff", "no-referrer")
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert "x-request-id" in headers


@pytest.mark.parametrize(("given", "kept"), [("mine-1.2_3", True), ("x" * 65, False), ("<script>", False), ("", False)])
def test_a_request_keeps_its_id_if_it_is_a_plain_one(client, given, kept):
    answer = client.call("GET", "/nothing", headers={"X-Request-Id": given})
    assert (answer.headers["x-request-id"] == given) is kept
    assert answer.json["request_id"] == answer.headers["x-request-id"]


def test_the_log_tells_nothing_of_content(client, caplog):
    caplog.set_level(logging.INFO, logger="viewvote.server")
    client.post_form("/v1/classify?labels=secret,hidden", [("image", "private.png", png())])
    client.get("/a-secret-address?with=secret")
    wait_until(lambda: "GET unknown 404" in caplog.text)  # it is written once the answer is sent
    text = caplog.text
    assert "POST /v1/classify 200" in text
    for word in ("secret", "hidden", "private", "PNG"):
        assert word not in text
