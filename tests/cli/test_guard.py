"""How the command ends where its streams or its user end it."""

import errno
import io
import json
import os
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image
from typer.testing import CliRunner

from tests.cli.as_process import LABELS, TOY, viewvote
from viewvote.cli.commands import app
from viewvote.cli.guard import exit_code_of


def test_an_interrupt_while_the_command_is_imported_is_no_traceback(tmp_path):
    (tmp_path / "typer.py").write_text("raise KeyboardInterrupt")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    done = viewvote("models", env={"PYTHONPATH": path})
    assert done.returncode == 130
    assert done.stderr.decode() == "viewvote: interrupted.\n"


@pytest.mark.parametrize("command", ["--help", "methods"])
def test_a_reader_that_is_gone_ends_help_as_it_ends_commands(command):
    ours, theirs = os.pipe()
    os.close(ours)
    done = subprocess.run(
        [sys.executable, "-m", "viewvote", command], stdout=theirs, stderr=subprocess.PIPE, timeout=60
    )
    os.close(theirs)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.fixture
def pictures(tmp_path):
    folder = tmp_path / "pictures"
    folder.mkdir()
    for name in ("a", "b", "c"):
        Image.new("RGB", (30, 20), (250, 0, 0)).save(folder / f"{name}.png")
    return folder


def in_bash(line):
    """The command with redirections as bash makes them; VIEWVOTE stands for the command."""
    script = line.replace("VIEWVOTE", f"'{sys.executable}' -m viewvote")
    return subprocess.run(["bash", "-c", script], capture_output=True, timeout=60)


CLASSIFY = "VIEWVOTE classify '{}' --labels red,green --model toy --views 4 --format jsonl"


def test_a_closed_stderr_is_a_silent_one(pictures):
    (pictures / "bad.png").write_bytes(b"x")
    done = in_bash(CLASSIFY.format(pictures) + " 2>&-")
    assert done.returncode == 1  # of the bad one
    assert [json.loads(line)["label"] for line in done.stdout.splitlines()] == ["red"] * 3


def test_a_closed_stdout_does_not_stop_what_goes_to_a_file(pictures, tmp_path):
    done = in_bash(CLASSIFY.format(pictures) + f" --output '{tmp_path}/o.jsonl' >&-")
    assert (done.returncode, done.stderr) == (0, b"viewvote: 3 classified, 0 failed.\n")
    assert len((tmp_path / "o.jsonl").read_text().splitlines()) == 3


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has /dev/full")
@pytest.mark.parametrize("line", [CLASSIFY, "VIEWVOTE methods", "VIEWVOTE --help"])
def test_a_full_disk_is_told_in_one_line(pictures, line):
    done = in_bash(line.format(pictures) + " >/dev/full")
    assert done.returncode == 1
    assert done.stderr.decode() == "viewvote: cannot write: No space left on device.\n"


@pytest.mark.parametrize("number", [errno.EACCES, errno.EPERM, errno.ENAMETOOLONG, errno.ENOENT, errno.EROFS])
def test_a_place_that_the_system_refuses_is_a_usage_error_that_names_it(number, capsys):
    assert exit_code_of(OSError(number, os.strerror(number), "photos/a.jpg")) == 2
    assert capsys.readouterr().err == f"viewvote: cannot use photos/a.jpg: {os.strerror(number)}.\n"


def test_too_little_memory_is_told_as_that(capsys):
    assert exit_code_of(MemoryError()) == 1
    assert capsys.readouterr().err.startswith("viewvote: there is not enough memory for this")


def test_a_bug_is_one_line_of_a_screen_at_most_and_a_failed_run(capsys):
    assert exit_code_of(KeyError("x" * 100_000)) == 1
    assert len(capsys.readouterr().err) < 1200


NAME = "a" * 300


@pytest.mark.parametrize(
    "args",
    [
        ("classify", NAME, "--labels", "a,b", "--model", "toy"),
        ("classify", "p.png", "--labels-file", NAME, "--model", "toy"),
        ("classify", "p.png", "--labels", "a,b", "--model", "toy", "--output", NAME, "--format", "csv"),
        ("classify", "p.png", "--labels", "a,b", "--model", "toy", "--explain", NAME),
        ("classify", "p.png", "--labels", "a,b", "--model", f"onnx:./{NAME}"),
        ("classify", "p.png", "--labels", "a,b", "--model", "toy", "--views", "9" * 5000),
        ("classify", "p.png", "--labels", "a,b", "--model", "toy", "--views", "100000000"),
        ("classify", "p.png", "--labels", "a,b", "--model", "toy", "--set", "keep={[]:1}"),
        ("classify", "p.png", "--labels", "a,b", "--model", "toy", "--stop", "/dev/zero", "--views", "adaptive"),
        ("classify", "p.png", "--labels-file", "/dev/zero", "--model", "toy"),
        ("eval", "--dataset", NAME, "--model", "toy"),
        ("eval", "--spec", NAME),
        ("report", NAME),
        ("report", "--layout", NAME, "."),
    ],
    ids=lambda args: " ".join(args)[-50:],
)
def test_impossible_names_and_numbers_are_usage_errors(pictures, monkeypatch, args):
    monkeypatch.chdir(pictures)
    (pictures / "a.png").rename(pictures / "p.png")
    done = CliRunner().invoke(app, list(args))
    assert (done.exit_code, "unexpected" in done.stderr) == (2, False), done.stderr
    assert done.stderr.count("\n") == 1


def test_remarks_of_pillow_on_a_file_s_metadata_stay_off_the_terminal(tmp_path):
    far = b"Exif\0\0II*\0\x08\0\0\0\x01\0" + struct.pack("<HHII", 0x014A, 4, 1000, 8) + bytes(4)
    plain = io.BytesIO()
    Image.new("RGB", (30, 20), (250, 0, 0)).save(plain, "JPEG")
    data = plain.getvalue()
    (tmp_path / "a.jpg").write_bytes(data[:2] + b"\xff\xe1" + struct.pack(">H", len(far) + 2) + far + data[2:])
    with pytest.warns(UserWarning, match="Tag data larger than file"), Image.open(tmp_path / "a.jpg") as image:
        image.getexif()
    done = viewvote("classify", tmp_path / "a.jpg", *LABELS, *TOY)
    assert (done.returncode, b"PIL" in done.stderr, b"Warning" in done.stderr) == (0, False, False)
