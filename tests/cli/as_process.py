"""The command run as a process."""

import os
import subprocess
import sys

TOY = ["--model", "toy", "--views", "8"]
LABELS = ["--labels", "red,green,blue"]


def viewvote(*args, stdin=b"", env=None, cwd=None):
    command = [sys.executable, "-m", "viewvote", *(arg if isinstance(arg, bytes) else str(arg) for arg in args)]
    return subprocess.run(command, input=stdin, capture_output=True, env=os.environ | (env or {}), cwd=cwd, timeout=60)
