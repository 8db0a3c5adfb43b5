"""Kills `viewvote eval` or `classify` with SIGKILL at random moments, continues it, and compares with a whole run.

Most kills come after a random number of new records; the others after a random time, also while a process loads,
repairs or finishes. A run that ends before its kill is compared, and a new one begun. With --power-loss the file is
then cut to what it had when it was last synced, or a little more: what a disk may have after a power loss. Commands run
in children forked from this process, so they start at once. The campaign is a line of the ledger: kills, how many fell
while records were written, power losses, records lost and duplicated, runs whose records differ from the uninterrupted.
Without --kills the table of all campaigns is made from the ledger.
"""

import argparse
import json
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from PIL import Image

from .campaigns import Line, add_campaign, alike, campaigns, next_seed, total, versions
from .forked import Forked, import_everything
from .sections import add_write, section

BY_TIME = 0.3
COMMANDS = ("eval", "classify", "ray")


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
    out.mkdir(parents=True, exist_ok=True)
    common = ["--model", args.model, "--views", str(args.views), "--method", args.method, "--quiet"]
    if args.command == "classify":
        output = ["--output", str(out / "answers.jsonl"), "--format", "jsonl", "--resume"]
        return ["classify", str(data), "--labels", "red,green,blue", *common, *output]
    engine = ["--engine", "ray", "--actors", "2"] if args.command == "ray" else []
    return ["eval", "--dataset", str(data), "--out", str(out), *common, *engine]


def started(args: argparse.Namespace, data: Path, out: Path) -> Forked:
    """The command in a child that notes the file and its size whenever one is synced."""
    return Forked(command(args, data, out), note=note_of(out))


def note_of(out: Path) -> Path:
    return out.with_suffix(".synced")


def file_of(out: Path) -> Path | None:
    """The file of records or answers, once there is one."""
    return next((path for name in ("*/records.jsonl", "answers.jsonl") for path in out.glob(name)), None)


def lines_of(out: Path) -> list[str]:
    path = file_of(out)
    assert path is not None, out
    return path.read_text().splitlines()


def count(out: Path) -> tuple[int, bool]:
    """Whole lines of the newest run, and whether half a line follows them."""
    path = file_of(out)
    data = b"" if path is None else path.read_bytes()
    return data.count(b"\n"), bool(data) and not data.endswith(b"\n")


def lose_power(out: Path, rng: random.Random) -> bool:
    """Cut the file to what was synced of it, or a random part of the rest; whether anything was cut."""
    path = file_of(out)
    if path is None or not path.stat().st_size:
        return False
    notes = note_of(out).read_text().split("\n")[:-1] if note_of(out).exists() else []
    sizes = [int(size) for inode, size in map(str.split, notes) if int(inode) == path.stat().st_ino]
    size = path.stat().st_size
    synced = min(sizes[-1] if sizes else 0, size)
    cut = rng.choice([synced, rng.randint(synced, size)])
    os.truncate(path, cut)
    return cut < size


def compare(out: Path, whole: list[str]) -> dict[str, int]:
    """How the records of a finished run differ from those of an uninterrupted one."""
    lines = lines_of(out)
    times = Counter(map(key_of, lines))
    expected = list(map(key_of, whole))
    same = list(map(untimed, lines)) == list(map(untimed, whole))
    return {
        "lost": sum(key not in times for key in expected),
        "duplicated": sum(n - 1 for n in times.values()),
        "runs_that_differ": int(not same),
    }


def key_of(line: str) -> str:
    row = json.loads(line)
    return str(row["key"] if "key" in row else row["path"])


def untimed(line: str) -> dict[str, object]:
    return {name: value for name, value in json.loads(line).items() if name != "timings"}


def finish(process: Forked) -> None:
    """Wait for a command that nobody interrupts."""
    code = process.wait()
    assert code == 0, f"exit code {code}"


def campaign(args: argparse.Namespace, rng: random.Random) -> Counter[str]:
    """Kill as often as asked, and compare every run that ends."""
    import_everything()
    totals: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        make_folder(data, args.images)
        start = time.monotonic()
        finish(started(args, data, Path(folder) / "whole"))
        longest = time.monotonic() - start
        whole = lines_of(Path(folder) / "whole")
        while totals["kills"] < args.kills:
            out = Path(folder) / f"run-{totals['runs']}"
            while totals["kills"] < args.kills and kill_once(args, data, out, rng, longest, totals):
                pass
            finish(started(args, data, out))
            totals["runs"] += 1
            totals.update(compare(out, whole))
    return totals


def kill_once(
    args: argparse.Namespace, data: Path, out: Path, rng: random.Random, longest: float, totals: Counter[str]
) -> bool:
    """Start or continue the command and kill it; False where it was quicker."""
    before, _ = count(out)
    process = started(args, data, out)
    if rng.random() < BY_TIME:
        process.wait(rng.uniform(0, longest))
    else:
        goal = before + rng.randrange(1, args.images // 5)
        while process.poll() is None and count(out)[0] < goal:
            process.wait(rng.uniform(0, 0.02))
    if process.poll() is not None:
        return False
    process.kill()
    totals["kills"] += 1
    totals["kills_while_writing"] += before < count(out)[0] < args.images
    if args.power_loss and rng.random() < 0.5:
        totals["power_losses"] += lose_power(out, rng)
    totals["torn_lines"] += count(out)[1]
    return True


def table(lines: Iterable[Line]) -> Iterator[str]:
    """A row for each command and number of images and views."""
    yield (
        "| command | images | views | kills | while records were written | power losses | torn lines | lost | doubled "
        "| runs that differ | version |"
    )
    yield "|---|---|---|---|---|---|---|---|---|---|---|"
    for (command, images, views), some in alike(lines, "command", "images", "views"):
        names = ("kills", "kills_while_writing", "power_losses", "torn_lines", "lost", "duplicated")
        counts = " | ".join(f"{total(some, name):,}" for name in names)
        name = "eval --engine ray" if command == "ray" else command
        differ = f"{total(some, 'runs_that_differ')} of {total(some, 'runs')}"
        yield f"| `{name}` | {images:,} | {views} | {counts} | {differ} | {versions(some)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--command", choices=COMMANDS, default="eval")
    parser.add_argument("--power-loss", action="store_true", help="after half of the kills the disk loses what it may")
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--images", type=int, default=60)
    parser.add_argument("--model", default="toy")
    parser.add_argument("--method", default="zero")
    parser.add_argument("--views", type=int, default=4)
    parser.add_argument("--seed", type=int, help="by default one that no campaign of the ledger had")
    add_write(parser)
    args = parser.parse_args()
    place, failed = section("benchmarks.kill_trials", write=args.write), False
    if args.kills:
        seed = next_seed(args.command) if args.seed is None else args.seed
        settings = {name: getattr(args, name) for name in ("images", "views", "model", "method")}
        totals = campaign(args, random.Random(seed))
        print(json.dumps(add_campaign(args.command, seed, settings | totals)))
        failed = any(totals[name] for name in ("lost", "duplicated", "runs_that_differ"))
    place.show(table(campaigns(*COMMANDS)))
    sys.exit(int(failed))


if __name__ == "__main__":
    main()
