"""The command run as a process."""

import os
import subprocess
import sys

from PIL import Image

TOY = ["--model", "toy", "--views", "8"]
LABELS = ["--labels", "red,green,blue"]
UNMEASURED = {name: value for name, value in os.environ.items() if name != "COVERAGE_PROCESS_CONFIG"}
"""Where a process is to be interrupted: the measurement of coverage would wait for ever for a lock that it holds."""


def viewvote(*args, stdin=b"", env=None, cwd=None):
    command = [sys.executable, "-m", "viewvote", *(arg if isinstance(arg, bytes) else str(arg) for arg in args)]
    return subprocess.run(command, input=stdin, capture_output=True, env=os.environ | (env or {}), cwd=cwd, timeout=60)


def draw_pictures(folder):
    """A folder of pictures of one colour each, one of them further down, and a file that is none."""
    (folder / "deep").mkdir(parents=True)
    Image.new("RGB", (30, 20), (250, 0, 0)).save(folder / "a red.png")
    Image.new("RGB", (30, 20), (0, 250, 0)).save(folder / "b.jpg")
    Image.new("RGB", (30, 20), (0, 0, 250)).save(folder / "deep" / "c.webp")
    (folder / "notes.txt").write_text("not a picture")
    return folder
