"""Ray's cost: a table by two actors of one core each beside two processes of one thread each, on the same shards.

In turn in every round. A worker's start (its process, the model, Ray's plans) is left out: its time counts from its
first shard to the last part of all, so that what it waits for, between shards and at the end, is in it. A machine with
two idle cores is needed. Prints a JSON line.
"""

import argparse
import importlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.bulk_rate import photographs
from benchmarks.shelves import write_tar

WORKERS = 2

CODE = """
import json, sys
from benchmarks.bulk_ray import note_start
from viewvote.bulk import BulkJob, Recipe, classify_bulk
from viewvote.bulk.run import LocalBulk
from viewvote.sources import open_source
note_start("viewvote.bulk.run", sys.argv[2])
settings = json.loads(sys.argv[1])
job = BulkJob(open_source(*settings["shards"]), Recipe(settings["recipe"]), settings["output"], settings["part_images"])
classify_bulk(job, engine=LocalBulk(threads=1))
"""


def note_start(module: str, marks: str) -> None:
    """Let this process note when it begins with its first shard, and its processor time then and now."""
    where = importlib.import_module(module)
    whole = where.answer_pieces

    def answer_pieces(*args: Any, **settings: Any) -> Iterator[Any]:
        mark = Path(Path(marks).read_text(), str(os.getpid()))  # in the folder of the round at hand
        if not mark.exists():
            mark.write_text(f"{time.time_ns()} {time.process_time_ns()}")
        yield from whole(*args, **settings)
        mark.with_suffix(".end").write_text(str(time.process_time_ns()))

    where.answer_pieces = answer_pieces


def make_shards(photos: Path, folder: Path, *, shards: int, each: int) -> list[str]:
    """Shards of so many photographs each."""
    images = list(photographs(photos, shards * each).items())
    paths = [folder / f"{number:03}.tar" for number in range(shards)]
    for number, path in enumerate(paths):
        write_tar(path, dict(images[number * each : (number + 1) * each]))
    return [str(path) for path in paths]


def by_processes(shards: list[str], output: Path, recipe: dict[str, object], part_images: int) -> list[Path]:
    """Let each process make a table of its share; returns all parts."""
    tables = [Path(f"{output}-{number}.parquet") for number in range(WORKERS)]
    started = []
    for number, table in enumerate(tables):
        settings = {"shards": shards[number::WORKERS], "recipe": recipe, "part_images": part_images}
        args = [sys.executable, "-c", CODE, json.dumps(settings | {"output": str(table)}), str(output.parent / "round")]
        started.append(subprocess.Popen(args))
    failed = sum(process.wait() != 0 for process in started)
    if failed:
        raise SystemExit(f"{failed} processes failed")
    return [part for table in tables for part in table.iterdir()]


def by_ray(shards: list[str], output: Path, recipe: dict[str, object], part_images: int) -> list[Path]:
    """Let actors make a table; returns its parts."""
    from viewvote.bulk import BulkJob, Recipe, classify_bulk
    from viewvote.bulk.on_ray import RayBulk
    from viewvote.sources import open_source

    table = Path(f"{output}.parquet")
    job = BulkJob(open_source(*shards), Recipe(recipe), str(table), part_images)
    classify_bulk(job, engine=RayBulk(actors=WORKERS, cpus_per_actor=1))
    return list(table.iterdir())


def seconds_of(marks: Path, parts: list[Path]) -> tuple[float, float]:
    """The time of all workers, each from its first shard to the last part of all; and their processor time."""
    end = max(part.stat().st_mtime_ns for part in parts)
    wall = used = 0
    for mark in marks.glob("*.end"):
        began, before = map(int, mark.with_suffix("").read_text().split())
        wall, used = wall + end - began, used + int(mark.read_text()) - before
    return wall / 1e9, used / 1e9


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("photos", type=Path)
    parser.add_argument("--shards", type=int, default=10)
    parser.add_argument("--each", type=int, default=60, help="images of a shard")
    parser.add_argument("--part-images", type=int, default=20, help="a divisor of --each")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--labels", type=Path, help="one a line", required=True)
    parser.add_argument("--model", default="pocket")
    args = parser.parse_args()
    os.environ |= {"RAY_worker_niceness": "0", "RAY_USAGE_STATS_ENABLED": "0"}  # as polite as the processes
    import ray

    labels = [label for label in args.labels.read_text().split("\n") if label]
    recipe: dict[str, object] = {"model": args.model, "labels": labels}
    ways = {"processes": by_processes, "ray": by_ray}
    walls: dict[str, list[float]] = {way: [] for way in ways}
    cores: dict[str, list[float]] = {way: [] for way in ways}
    n = args.shards * args.each
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        hook = {"worker_process_setup_hook": lambda: note_start("viewvote.bulk.on_ray", f"{name}/round")}
        quiet = {"include_dashboard": False, "log_to_driver": False, "logging_level": "ERROR"}
        ray.init(address="local", num_cpus=WORKERS, runtime_env=hook, **quiet)
        shards = make_shards(args.photos, folder, shards=args.shards, each=args.each)
        for round_ in range(args.rounds):
            for way, make in ways.items():
                marks = folder / f"marks-{way}{round_}"
                marks.mkdir()
                (folder / "round").write_text(str(marks))
                parts = make(shards, folder / f"{way}{round_}", recipe, args.part_images)
                wall, used = seconds_of(marks, parts)
                walls[way].append(wall)
                cores[way].append(used)
        ray.shutdown()
    result = {"model": args.model, "images": n, "shards": args.shards, "rounds": args.rounds, "labels": len(labels)}
    for what, found in (("worker", walls), ("core", cores)):
        result[f"{what}_seconds_per_image"] = {way: [round(one / n, 4) for one in all_] for way, all_ in found.items()}
        ratios = [theirs / ours for theirs, ours in zip(found["processes"], found["ray"], strict=True)]
        result[f"ray_against_processes_in_{what}_seconds"] = round(median(ratios), 3)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
