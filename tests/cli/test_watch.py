"""`classify --watch` as a process: images as they come, and a clean end."""

import json
import signal
import subprocess
import sys
import time

import pytest
from PIL import Image

from tests.cli.as_process import LABELS, TOY, UNMEASURED, viewvote

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="sends Ctrl-C")


def start(*args):
    command = [sys.executable, "-m", "viewvote", "classify", *map(str, args), *LABELS, *TOY]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=UNMEASURED)


def wait_for(lines, path):
    for _ in range(600):
        if path.exists() and len(path.read_bytes().splitlines()) >= lines:
            return
        time.sleep(0.05)
    raise AssertionError(f"{path} has not {lines} lines")


def test_images_are_answered_as_they_come_until_ctrl_c(tmp_path):
    folder, out, why = tmp_path / "in", tmp_path / "o.jsonl", tmp_path / "in" / "why"
    folder.mkdir()
    Image.new("RGB", (30, 20), (250, 0, 0)).save(folder / "first.png")
    process = start("--watch", folder, "--output", out, "--explain", why)
    wait_for(1, out)
    Image.new("RGB", (30, 20), (0, 250, 0)).save(folder / "second.png")
    wait_for(2, out)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=30)
    assert process.returncode == 0, stderr
    assert "2 classified, 0 failed." in stderr.decode()
    assert [json.loads(line)["label"] for line in out.read_bytes().splitlines()] == ["red", "green"]
    assert (why / "index.html").read_text().count("<li ") == 2
    assert sorted(path.name for path in why.glob("*.webp")) == ["first.webp", "second.webp"]


def test_a_resumed_watch_answers_what_came_meanwhile(tmp_path):
    folder, out = tmp_path / "in", tmp_path / "o.jsonl"
    folder.mkdir()
    Image.new("RGB", (30, 20), (250, 0, 0)).save(folder / "first.png")
    assert viewvote("classify", folder, "--output", out, *LABELS, *TOY).returncode == 0
    Image.new("RGB", (30, 20), (0, 0, 250)).save(folder / "second.png")
    process = start("--watch", folder, "--output", out, "--resume")
    wait_for(2, out)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=30)
    assert "1 classified, 0 failed, 1 done before." in stderr.decode()
    assert [json.loads(line)["label"] for line in out.read_bytes().splitlines()] == ["red", "blue"]
