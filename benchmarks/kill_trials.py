"""Kills `viewvote eval` with SIGKILL at random moments, continues it, and compares with an uninterrupted run.

Most kills come after a random number of new records; the others after a random time, also while a process loads,
repairs or finishes. A run that ends before its kill is compared, and a new one begun. Prints a JSON line: kills, how
many fell while records were written, records lost and duplicated, runs whose records differ from the uninterrupted.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import numpy as np
from PIL import Image

from viewvote.records.record import Record, without_timings

BY_TIME = 0.3


def make_folder(root: Path, n: int) -> None:
    """A labelled folder of n noisy pictures in three classes."""
    rng = np.random.default_rng(0)
    for i in range(n):
        colour = i % 3
        pixels = rng.integers(0, 120, (48, 64, 3), dtype=np.uint8)
        pixels[:, : rng.integers(8, 56), colour] += 100
        path = root / ("red", "green", "blue")[colour] / f"{i:05}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(pixels).save(path)


def command(args: argparse.Namespace, data: Path, out: Path) -> list[str]:
    flags = ["--dataset", str(data), "--model", args.model, "--views", str(args.views), "--out", str(out), "--quiet"]
    return [sys.executable, "-m", "viewvote", "eval", *flags, "--method", args.method]


def lines_of(out: Path) -> list[str]:
    (path,) = out.glob("*/records.jsonl")
    return path.read_text().splitlines()


def count(out: Path) -> tuple[int, bool]:
    """Whole lines of the newest run, and whether half a line follows them."""
    data = b"".join(path.read_bytes() for path in out.glob("*/records.jsonl"))
    return data.count(b"\n"), bool(data) and not data.endswith(b"\n")


def wait(process: "subprocess.Popen[bytes]", seconds: float) -> None:
    with suppress(subprocess.TimeoutExpired):
        process.wait(seconds)


def compare(out: Path, whole: list[str]) -> dict[str, int]:
    """How the records of a finished run differ from those of an uninterrupted one."""
    lines = lines_of(out)
    times = Counter(Record.from_line(line).key for line in lines)
    expected = [Record.from_line(line).key for line in whole]
    same = [without_timings(line) for line in lines] == [without_timings(line) for line in whole]
    return {
        "lost": sum(key not in times for key in expected),
        "duplicated": sum(n - 1 for n in times.values()),
        "runs_that_differ": int(not same),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--images", type=int, default=1000)
    parser.add_argument("--model", default="toy")
    parser.add_argument("--method", default="zero")
    parser.add_argument("--views", type=int, default=8)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    rng = random.Random(args.seed)
    totals: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        make_folder(data, args.images)
        start = time.monotonic()
        subprocess.run(command(args, data, Path(folder) / "whole"), check=True, stdout=subprocess.DEVNULL)
        longest = time.monotonic() - start
        whole = lines_of(Path(folder) / "whole")
        while totals["kills"] < args.kills:
            out = Path(folder) / f"run-{totals['runs']}"
            while totals["kills"] < args.kills:
                before, _ = count(out)
                process = subprocess.Popen(command(args, data, out), stdout=subprocess.DEVNULL)
                if rng.random() < BY_TIME:
                    wait(process, rng.uniform(0, longest))
                else:
                    goal = before + rng.randrange(1, args.images // 5)
                    while process.poll() is None and count(out)[0] < goal:
                        wait(process, rng.uniform(0, 0.02))
                if process.poll() is not None:
                    break  # it was quicker than its kill
                process.kill()
                process.wait()
                after, torn = count(out)
                totals["kills"] += 1
                totals["kills_while_writing"] += before < after < args.images
                totals["torn_lines"] += torn
            subprocess.run(command(args, data, out), check=True, stdout=subprocess.DEVNULL)
            totals["runs"] += 1
            totals.update(compare(out, whole))
    print(json.dumps({"images": args.images, "model": args.model, "method": args.method, **totals}))
    sys.exit(1 if totals["lost"] or totals["duplicated"] or totals["runs_that_differ"] else 0)


if __name__ == "__main__":
    main()
