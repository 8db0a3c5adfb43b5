"""What a run leaves in its output: nothing overwritten, whole lines, the rest on another day."""

import csv
import io
import json
import signal
import subprocess
import sys
import time

import pytest
from PIL import Image

from tests.cli.as_process import LABELS, TOY, UNMEASURED, draw_pictures, viewvote


@pytest.fixture
def pictures(tmp_path):
    return draw_pictures(tmp_path / "pictures")


def test_output_is_never_overwritten_unasked(pictures, tmp_path):
    out = tmp_path / "o.jsonl"
    args = ["classify", pictures, *LABELS, *TOY, "--format", "jsonl", "--output", out]
    assert viewvote(*args).returncode == 0
    before = out.read_bytes()
    again = viewvote(*args)
    assert again.returncode == 2
    assert "--resume" in again.stderr.decode()
    assert out.read_bytes() == before
    assert viewvote(*args, "--overwrite").returncode == 0
    assert len(out.read_bytes().splitlines()) == 3


@pytest.mark.parametrize("fmt", ["jsonl", "csv"])
def test_resume_drops_a_cut_line_and_does_only_the_rest(pictures, tmp_path, fmt):
    out = tmp_path / f"o.{fmt}"
    args = ["classify", pictures, *LABELS, *TOY, "--format", fmt, "--output", out]
    viewvote(*args)
    whole = out.read_text()
    lines = whole.splitlines(keepends=True)
    out.write_text("".join(lines[:-2]) + lines[-2][: len(lines[-2]) // 2])
    done = viewvote(*args, "--resume")
    assert done.returncode == 0
    assert "2 classified" in done.stderr.decode()

    def paths(text):
        if fmt == "csv":
            return [row["path"] for row in csv.DictReader(io.StringIO(text))]
        return [json.loads(line)["path"] for line in text.splitlines()]

    assert paths(out.read_text()) == paths(whole)
    assert "0 classified" in viewvote(*args, "--resume").stderr.decode()
    assert paths(out.read_text()) == paths(whole)


def test_resume_refuses_a_file_of_something_else(pictures, tmp_path):
    out = tmp_path / "o.jsonl"
    out.write_text("precious\n")
    done = viewvote("classify", pictures, *LABELS, *TOY, "--format", "jsonl", "--output", out, "--resume")
    assert done.returncode == 2
    assert "nothing was changed" in done.stderr.decode()
    assert out.read_text() == "precious\n"


def test_interrupting_leaves_whole_lines(tmp_path):
    for i in range(300):
        Image.new("RGB", (300, 200), (250, 0, 0)).save(tmp_path / f"{i:03}.png")
    out = tmp_path / "o.jsonl"
    command = [sys.executable, "-m", "viewvote", "classify", tmp_path, *LABELS, "--model", "toy", "--views", "64"]
    process = subprocess.Popen([*command, "--format", "jsonl", "--output", out], stderr=subprocess.PIPE, env=UNMEASURED)
    for _ in range(600):
        if out.exists() and out.stat().st_size > 3000:
            break
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=30)
    assert process.returncode == 130
    assert stderr == b"viewvote: interrupted. The same command with --resume goes on from here.\n"
    lines = out.read_bytes().splitlines(keepends=True)
    assert 0 < len(lines) < 300
    assert all(line.endswith(b"\n") and json.loads(line)["label"] == "red" for line in lines)


def test_a_reader_that_goes_away_is_no_error_message(tmp_path):
    for i in range(40):
        Image.new("RGB", (300, 200), (250, 0, 0)).save(tmp_path / f"{i:03}.png")
    options = "--labels red,green --model toy --format jsonl"
    command = f"'{sys.executable}' -m viewvote classify '{tmp_path}' {options} | head -n 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, timeout=60)
    assert len(done.stdout.splitlines()) == 1
    assert b"Traceback" not in done.stderr
    assert b"BrokenPipe" not in done.stderr
    assert b"Exception ignored" not in done.stderr


def test_the_summary_counts_images_without_a_label(pictures):
    Image.new("RGB", (30, 20), (90, 90, 90)).save(pictures / "grey.png")
    done = viewvote("classify", pictures, *LABELS, *TOY, "--abstain-below", "0.9")
    assert b"viewvote: 4 classified (1 abstained), 0 failed.\n" in done.stderr
    (pictures / "grey.png").unlink()
    assert b"abstained" not in viewvote("classify", pictures, *LABELS, *TOY).stderr
