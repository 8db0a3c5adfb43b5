"""Kills `viewvote classify` at random while it reads from and writes to an S3 that fails, and counts what is lost.

S3 is moto's server on loopback: one request in twenty fails, as many answers are cut off. Processes are killed with
SIGKILL, with --engine ray half the time a worker alone. A table that is complete before its kill is compared with one
made without interruption, and a new one begun. The totals so far are printed on stderr after every table. The campaign
is a line of the ledger; without --kills the table of all campaigns is made from the ledger.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.campaigns import Line, add_campaign, alike, campaigns, next_seed, total, versions
from benchmarks.sections import add_write, section
from benchmarks.shelves import LABELS, write_shard
from benchmarks.stores import s3

LIMIT = 600.0
"""Seconds after which a command that should end counts as hanging."""

WRONG = ("lost", "added", "twice", "other answers")


def command(args: argparse.Namespace, output: str) -> list[str]:
    flags = ["--labels", ",".join(LABELS), "--model", "toy", "--views", "4", "--part-images", "20", "--quiet"]
    engine = ["--engine", "ray", "--actors", "2"] if args.engine == "ray" else []
    places = f"s3://photos/in/{{000..{args.shards - 1:03}}}.tar"
    return [sys.executable, "-m", "viewvote", "classify", places, *flags, *engine, "--output", output]


def parts(system: Any, output: str) -> list[str]:
    return sorted(system.find(output)) if system.exists(output) else []


def rows(system: Any, output: str) -> dict[str, list[str]]:
    """Key -> the labels it was answered with."""
    import pyarrow.parquet as pq

    found: dict[str, list[str]] = {}
    for part in parts(system, output):
        with system.open(part) as file:
            for row in pq.read_table(file, columns=["key", "label", "error"]).to_pylist():
                found.setdefault(row["key"], []).append(row["label"] or row["error"])
    return found


def workers_of(driver: int) -> list[int]:
    """The actors below a process, by what Ray calls them."""
    parents, actors = {}, []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            if (entry / "cmdline").read_bytes().startswith(b"ray::_MapWorker"):
                actors.append(int(entry.name))
        except OSError:
            continue

    def below(process: int) -> bool:
        while process > 1 and process != driver:
            process = parents.get(process, 0)
        return process == driver

    return [actor for actor in actors if below(actor)]


def interrupt(args: argparse.Namespace, rng: random.Random, system: Any, output: str, totals: Counter[str]) -> bool:
    """Start the command and kill it, or a worker; False where it was quicker."""
    process = subprocess.Popen(command(args, output), start_new_session=True)
    goal = len(parts(system, output)) + rng.randrange(1, 6)
    by_time = time.monotonic() + rng.uniform(0, 20) if rng.random() < 0.3 else None
    while process.poll() is None and (time.monotonic() < by_time if by_time else len(parts(system, output)) < goal):
        time.sleep(rng.uniform(0, 0.1))
    if process.poll() is not None:
        totals[f"exit {process.returncode}"] += 1
        return False
    actors = workers_of(process.pid) if args.engine == "ray" and rng.random() < 0.5 else []
    if actors:
        os.kill(rng.choice(actors), signal.SIGKILL)
        totals["workers killed"] += 1
        totals[f"exit {process.wait(LIMIT)} after a killed worker"] += 1
        return True
    os.killpg(process.pid, signal.SIGKILL)  # the session that was started above, its own Ray included
    process.wait()
    totals["drivers killed"] += 1
    return True


def kills_of(totals: Counter[str]) -> int:
    """All kills so far."""
    return totals["drivers killed"] + totals["workers killed"]


def campaign(args: argparse.Namespace, rng: random.Random) -> Counter[str]:
    """Kill as often as asked, and compare every table that is complete."""
    os.environ |= {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_DEFAULT_REGION": "us-east-1"}
    totals: Counter[str] = Counter()
    with s3() as (app, root), tempfile.TemporaryDirectory() as folder:
        os.environ["AWS_ENDPOINT_URL"] = root
        import fsspec

        system = fsspec.filesystem("s3", use_listings_cache=False)
        system.mkdir("photos")
        for shard in range(args.shards):
            path = write_shard(Path(folder) / "s.tar", range(shard * args.images, (shard + 1) * args.images))
            system.pipe_file(f"photos/in/{shard:03}.tar", path.read_bytes())
        subprocess.run(
            command(argparse.Namespace(**vars(args) | {"engine": "local"}), "s3://photos/whole.parquet"), check=True
        )
        whole = rows(system, "photos/whole.parquet")
        app.at_work = True
        while kills_of(totals) < args.kills:
            output = f"photos/t{totals['tables']}.parquet"
            while kills_of(totals) < args.kills and interrupt(args, rng, system, f"s3://{output}", totals):
                pass
            subprocess.run(command(args, f"s3://{output}"), timeout=LIMIT)
            app.at_work = False
            totals["tables"] += 1
            totals.update(compare(rows(system, output), whole))
            app.at_work = True
            print(json.dumps(totals), file=sys.stderr, flush=True)
        totals.update(requests=app.requests, failed=app.failed, cut=app.cut)
    return totals


def compare(found: dict[str, list[str]], whole: dict[str, list[str]]) -> dict[str, int]:
    """How a table differs from the one that nobody interrupted."""
    return {
        "lost": len(whole.keys() - found.keys()),
        "added": len(found.keys() - whole.keys()),
        "twice": sum(len(labels) > 1 for labels in found.values()),
        "other answers": sum(found[key][0] != whole[key][0] for key in whole.keys() & found.keys()),
    }


def table(lines: Iterable[Line]) -> Iterator[str]:
    """A row for each engine and number of images."""
    yield (
        "| engine | images | kills of the command | of a worker alone | tables | requests | failed | cut off | lost "
        "| added | answered twice | otherwise | version |"
    )
    yield "|---|---|---|---|---|---|---|---|---|---|---|---|---|"
    for (engine, images), some in alike(lines, "engine", "images"):
        names = ("drivers killed", "workers killed", "tables", "requests", "failed", "cut", *WRONG)
        counts = " | ".join(f"{total(some, name):,}" for name in names)
        yield f"| {engine} | {images:,} | {counts} | {versions(some)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--shards", type=int, default=12)
    parser.add_argument("--images", type=int, default=60, help="of a shard")
    parser.add_argument("--engine", choices=["local", "ray"], default="local")
    parser.add_argument("--seed", type=int, help="by default one that no campaign of the ledger had")
    add_write(parser)
    args = parser.parse_args()
    place, failed = section("benchmarks.bulk_kills", write=args.write), False
    if args.kills:
        seed = next_seed("tables") if args.seed is None else args.seed
        totals = campaign(args, random.Random(seed))
        settings = {"engine": args.engine, "images": args.shards * args.images}
        print(json.dumps(add_campaign("tables", seed, settings | totals)))
        failed = any(totals[name] for name in WRONG)
    place.show(table(campaigns("tables")))
    sys.exit(int(failed))


if __name__ == "__main__":
    main()
