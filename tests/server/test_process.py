"""`viewvote serve` as a process: it starts, drains on SIGTERM, and says what is wrong with its arguments."""

import http.client
import json
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.as_process import UNMEASURED, viewvote
from tests.images.pictures import GREEN, RED
from tests.server.living import Client, free_port, png, wait_until

ROOT = Path(__file__).parents[2]
TOY = ["--model", "toy", "--labels", "red,green,blue", "--views", "8", "--port", "0"]


@contextmanager
def serving(*args, env=None, cwd=ROOT):
    """A process and a client of it."""
    command = [sys.executable, "-m", "viewvote", "serve", *args]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=UNMEASURED | (env or {}), cwd=cwd)
    try:
        line = process.stderr.readline()
        port = int(re.search(r"listening on http://[^:]+:(\d+)", line).group(1))
        client = Client(port, None)
        wait_until(lambda: is_ready(client))
        yield process, client
    finally:
        process.kill()
        process.communicate()


def is_ready(client):
    try:
        return client.get("/health/ready").status == 200
    except OSError:
        return False


def test_it_starts_answers_and_ends_on_sigterm():
    with serving(*TOY) as (process, client):
        assert client.classify(png(GREEN)).json["predictions"][0]["label"] == "green"
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
        assert "Traceback" not in process.stderr.read()


def test_nothing_is_written_about_the_labels_of_a_request():
    with serving(*TOY) as (process, client):
        for labels in (["xkqjzwv", "red"], ["кошка", "red"], ["secret"]):
            assert client.classify(png(GREEN), labels=labels).status == 200
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
        written = process.stderr.read()
        assert not any(word in written for word in ("xkqjzwv", "кошка", "secret"))


def test_sigterm_answers_what_was_accepted_and_takes_no_more():
    with serving(*TOY) as (process, client):
        started = client.connect()
        started.putrequest("POST", "/v1/classify")
        started.putheader("Content-Type", "image/png")
        started.putheader("Content-Length", str(len(png(RED))))
        started.endheaders(png(RED)[:20])
        wait_until(lambda: b"viewvote" in client.get("/metrics").body)  # the headers before are surely read by now
        process.send_signal(signal.SIGTERM)
        wait_until(lambda: not accepts(client))
        assert process.poll() is None
        started.send(png(RED)[20:])
        answer = started.getresponse()
        assert json.loads(answer.read())["predictions"][0]["label"] == "red"
        started.close()
        assert process.wait(30) == 0


def accepts(client):
    try:
        client.get("/health/live")
    except OSError:
        return False
    except http.client.HTTPException:
        return False
    return True


def test_interrupting_it_ends_it_without_a_word_too_many():
    with serving(*TOY, "--quiet") as (process, _):
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
        assert "Traceback" not in process.stderr.read()


def test_several_processes_share_a_port_and_their_counters():
    with serving(*TOY[:-1], str(free_port()), "--workers", "2") as (process, client):
        for _ in range(12):
            assert client.classify(png(RED)).status == 200
        text = client.get("/metrics").body.decode()
        (line,) = re.findall(r'^viewvote_images_total\{outcome="answered"\} (\S+)$', text, flags=re.MULTILINE)
        assert float(line) == 12
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) in (0, -signal.SIGTERM)


def test_several_processes_are_quiet_together():
    with serving(*TOY[:-1], str(free_port()), "--workers", "2", "--quiet") as (process, client):
        for _ in range(4):
            assert client.classify(png(RED)).status == 200
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) in (0, -signal.SIGTERM)
        assert "/v1/classify" not in process.stderr.read()


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--host", "0.0.0.0"], "requests need a key"),
        (["--model", "nothing"], "no model 'nothing'"),
        (["--method", "tda"], "a service answers each image alone"),
        (["--views", "65"], "--views 65 is more than --max-views 64"),
        (["--views", "many"], "views must be a number, adaptive or auto"),
        (["--labels", "a,a"], "label 'a' is given twice"),
        (["--templates", "none"], "no template set 'none'"),
        (["--max-queue", "5"], "--max-queue 5 is less than the 32 images"),
        (["--timeout", "0"], "--timeout must be above 0"),
        (["--max-bytes", "0"], "the limit of bytes must be at least 1"),
        (["--api-key-file", "missing"], "cannot read the API keys"),
        (["--labels-file", "missing"], "cannot read the labels file"),
        (["--calibration", "missing"], "missing"),
        (["--plugin", "x.py", "--workers", "2"], "--plugin is for one process"),
        (["--precision", "int4"], "--precision"),
    ],
)
def test_mistakes_in_the_arguments_are_told_in_a_line(args, words, tmp_path):
    done = viewvote("serve", "--model", "toy", *args, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert words in done.stderr.decode()
    assert "Traceback" not in done.stderr.decode()


def test_a_port_that_is_taken_is_told_in_a_line():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = viewvote("serve", "--model", "toy", "--port", taken.getsockname()[1])
    assert done.returncode == 2
    assert b"cannot listen on 127.0.0.1 port" in done.stderr


DOCS = (ROOT / "docs" / "guides" / "serve.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def documented():
    """The service that the page's first command starts, on the port that its examples use."""
    with serving("--labels", "cat,dog,rocket,coffee cup", "--port", "0", "--views", "adaptive") as (_, client):
        yield client


def blocks(language, mark):
    found = re.findall(rf"^```{language}\n(.*?)^```", DOCS, flags=re.MULTILINE | re.DOTALL)
    return [block for block in found if mark in block]


LINES = [line for block in blocks("bash", "curl ") for line in re.sub(r"\\\n\s*", "", block).splitlines()]
CURL = [line for line in LINES if line.startswith("curl ")]


@pytest.mark.parametrize("command", CURL)
def test_curl_examples_work(command, documented):
    command = command.replace("http://127.0.0.1:8008", documented.url)
    done = subprocess.run(["bash", "-c", command], capture_output=True, cwd=ROOT, timeout=60)
    assert done.returncode == 0, done.stderr
    assert b'"label": "cat"' in done.stdout or b'"label":"cat"' in done.stdout or done.stdout.startswith(b"\x89PNG")


@pytest.mark.parametrize("block", blocks("python", "8008"))
def test_python_examples_work(block, documented, capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    exec(compile(block.replace("http://127.0.0.1:8008", documented.url), "serve.md", "exec"), {})
    assert "cat" in capsys.readouterr().out


def test_there_are_examples_of_both():
    assert len(blocks("bash", "curl ")) >= 1
    assert len(blocks("python", "8008")) >= 2


def test_the_embedded_model_answers_over_http_as_it_does_in_python(documented):
    from viewvote import Classifier

    photo = ROOT / "examples" / "photos" / "astronaut.jpg"
    with urllib.request.urlopen(
        urllib.request.Request(f"{documented.url}/v1/classify?labels=astronaut,rocket&views=16", photo.read_bytes())
    ) as answer:
        found = json.load(answer)["predictions"][0]
    expected = Classifier("pocket", labels=["astronaut", "rocket"], n_views=16)(photo).to_dict()
    for key in ("label", "probability", "probabilities", "scores", "votes", "vote_share"):
        assert found[key] == expected[key]
