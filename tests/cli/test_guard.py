"""How the command ends where its streams or its user end it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from tests.cli.as_process import viewvote


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
