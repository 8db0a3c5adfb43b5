"""Ctrl-C is answered whatever the command is busy with; a hang of an hour stands for one without end."""

import os
import signal
import subprocess
import sys

import pytest
from PIL import Image

START = """
import sys, time

def busy(*args, **kwargs):
    sys.stderr.write("busy\\n")
    sys.stderr.flush()
    HANG

from viewvote.encoders import toy
from viewvote.images import apart, source
SPOIL
sys.argv[0] = "viewvote"
from viewvote.cli import main
main()
"""
WAIT = "time.sleep(3600)"
NOT_INTERRUPTIBLE = """
    import ctypes
    mutex, lock = ctypes.create_string_buffer(64), ctypes.CDLL(None).pthread_mutex_lock
    lock(mutex), lock(mutex)  # the second waits for ever, inside of C
"""


def interrupted(folder, *command, spoil, hang):
    """The exit code and the error output of a command that gets Ctrl-C once it is busy."""
    script = START.replace("SPOIL", spoil).replace("HANG", hang)
    with subprocess.Popen(
        [sys.executable, "-c", script, *command], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            while process.stderr.readline() != "busy\n":
                assert process.poll() is None
            process.send_signal(signal.SIGINT)
            out, errors = process.communicate(timeout=60)
        finally:
            process.kill()
    return process.returncode, out, errors.replace("busy\n", "")


CLASSIFY = ["classify", "--labels", "red,green", "--model", "toy", "--views", "4", "--format", "jsonl"]
EVAL = ["eval", "--dataset", "photos", "--model", "toy", "--views", "4", "--quiet"]


@pytest.fixture
def photos(tmp_path):
    for name in ("red", "green"):
        (tmp_path / "photos" / name).mkdir(parents=True)
        Image.new("RGB", (30, 20), name).save(tmp_path / "photos" / name / "a.png")
    return tmp_path


@pytest.mark.parametrize("command", [[*CLASSIFY, "photos"], EVAL], ids=["classify", "eval"])
@pytest.mark.parametrize(
    ("spoil", "hang"),
    [
        ("source._read_file = busy", WAIT),  # a disk of the network that is gone
        ("apart.decode = busy", NOT_INTERRUPTIBLE),  # a slow decoder
        ("toy.ToyEncoder.encode_images = busy", NOT_INTERRUPTIBLE),  # a slow model, on the main thread
    ],
    ids=["read", "decode", "encode"],
)
def test_ctrl_c_ends_the_command(photos, command, spoil, hang):
    goes_on = " The same command goes on from here." if command is EVAL else ""
    told = f"viewvote: interrupted.{goes_on}\n"
    code, out, error = interrupted(photos, *command, spoil=spoil, hang=hang)
    assert (code, out) == (130, "")
    assert error in (told, "viewvote: interrupted.\n")  # the second where nothing else could answer


def test_a_run_that_was_interrupted_goes_on(photos):
    assert interrupted(photos, *EVAL, spoil="source._read_file = busy", hang=WAIT)[0] == 130
    command = [sys.executable, "-m", "viewvote", *EVAL]
    done = subprocess.run(command, cwd=photos, capture_output=True, text=True, timeout=120, env=dict(os.environ))
    assert (done.returncode, done.stderr) == (0, "")
