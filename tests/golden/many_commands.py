"""Several `viewvote` commands in one process: starting one takes longer than most of them.

Reads a JSON list of {"args", "cwd", "out"} from standard input; what a command prints goes to the file `out`.
"""

import json
import os
import sys

from viewvote.cli import main


def run(args: list[str]) -> int:
    """The exit code of one command."""
    sys.argv = ["viewvote", *args]
    try:
        main()
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def run_all(jobs: list[dict[str, str | list[str]]]) -> None:
    """Runs the commands in turn; the first that fails ends the process."""
    for job in jobs:
        file = os.open(str(job["out"]), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(file, 1)
        os.close(file)
        os.chdir(str(job["cwd"]))
        code = run(list(job["args"]))
        sys.stdout.flush()
        if code:
            sys.exit(f"viewvote {' '.join(job['args'])} ended with {code}")


if __name__ == "__main__":
    run_all(json.load(sys.stdin))
