"""Several `viewvote` commands in one process: starting one takes longer than most of them.

Reads a JSON list of {"args", "cwd", "out"} from standard input; what a command prints goes to the file `out`.
A command that fails leaves its exit code there instead, and the others run all the same.
"""

import json
import os
import sys
from pathlib import Path

from viewvote.cli import main


def run(args: list[str]) -> int:
    """The exit code of one command."""
    sys.argv = ["viewvote", *args]
    try:
        main()
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def run_all(jobs: list[dict[str, str | list[str]]]) -> bool:
    """Runs the commands in turn; returns whether all succeeded."""
    failed = 0
    for job in jobs:
        file = os.open(str(job["out"]), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(file, 1)
        os.close(file)
        os.chdir(str(job["cwd"]))
        code = run(list(job["args"]))
        sys.stdout.flush()
        if code:
            failed += 1
            Path(str(job["out"])).write_text(f"ended with {code}", encoding="utf-8")
            sys.stderr.write(f"viewvote {' '.join(job['args'])} ended with {code}\n")
    return not failed


if __name__ == "__main__":
    sys.exit(0 if run_all(json.load(sys.stdin)) else 1)
