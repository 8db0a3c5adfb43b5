"""Ray's cost: a table by two actors of one core each beside two processes of one thread each, on the same shards.

    python -m benchmarks.bulk_ray FOLDER [--labels FILE] [--write]

In turn in every round. A worker's start (its process, the model, Ray's plans) is told apart: its time counts from its
first shard to the last part of all, so that what it waits for, between shards and at the end, is in it. A machine with
two idle cores is needed.
"""

import argparse
import importlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.kept import Kept, add_records
from benchmarks.machine import measured_on
from benchmarks.sections import add_write, section
from benchmarks.shelves import write_tar

WORKERS = 2
TITLES = {"processes": "two processes of one thread", "ray": "two Ray actors of one core"}

CODE = """
import json, sys
import pandas  # pyarrow imports it with its first table; Ray's actors have it before their first shard
from benchmarks.bulk_ray import note_start
from viewvote.bulk import BulkJob, Recipe, classify_bulk
from viewvote.bulk.run import LocalBulk
from viewvote.sources import open_source
note_start("viewvote.bulk.run", sys.argv[2])
settings = json.loads(sys.argv[1])
job = BulkJob(open_source(*settings["shards"]), Recipe(settings["recipe"]), settings["output"], settings["part_images"])
classify_bulk(job, engine=LocalBulk(threads=1))
"""

Recipes = dict[str, object]


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
    from benchmarks.bulk_rate import photographs

    images = list(photographs(photos, shards * each).items())
    paths = [folder / f"{number:03}.tar" for number in range(shards)]
    for number, path in enumerate(paths):
        write_tar(path, dict(images[number * each : (number + 1) * each]))
    return [str(path) for path in paths]


def by_processes(shards: list[str], output: Path, recipe: Recipes, part_images: int) -> list[Path]:
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


def by_ray(shards: list[str], output: Path, recipe: Recipes, part_images: int) -> list[Path]:
    """Let actors make a table; returns its parts."""
    from viewvote.bulk import BulkJob, Recipe, classify_bulk
    from viewvote.bulk.on_ray import RayBulk
    from viewvote.sources import open_source

    table = Path(f"{output}.parquet")
    job = BulkJob(open_source(*shards), Recipe(recipe), str(table), part_images)
    classify_bulk(job, engine=RayBulk(actors=WORKERS, cpus_per_actor=1))
    return list(table.iterdir())


WAYS: dict[str, Callable[[list[str], Path, Recipes, int], list[Path]]] = {"processes": by_processes, "ray": by_ray}


def seconds_of(marks: Path, parts: list[Path], asked: int) -> dict[str, float]:
    """From `asked` to the first shard; the time of all workers from their first shard to the last part; their work."""
    end = max(part.stat().st_mtime_ns for part in parts)
    begun = [[int(word) for word in mark.with_suffix("").read_text().split()] for mark in marks.glob("*.end")]
    used = sum(int(mark.read_text()) for mark in marks.glob("*.end")) - sum(before for _, before in begun)
    wall = sum(end - at for at, _ in begun)
    return {"start": (min(at for at, _ in begun) - asked) / 1e9, "wall": wall / 1e9, "core": used / 1e9}


class Bench:
    """Shards and Ray, there from the first measurement on."""

    def __init__(self, args: argparse.Namespace, stack: ExitStack) -> None:
        self._args, self._stack = args, stack
        self._shards: list[str] = []

    def run(self, way: str, number: int) -> dict[str, float]:
        """The seconds of one way in one round."""
        if not self._shards:
            self._begin()
        marks = self._folder / f"marks-{way}{number}"
        marks.mkdir()
        (self._folder / "round").write_text(str(marks))
        asked = time.time_ns()
        parts = WAYS[way](self._shards, self._folder / f"{way}{number}", self._recipe, self._args.part_images)
        return seconds_of(marks, parts, asked)

    def _begin(self) -> None:
        args = self._args
        if args.photos is None:
            raise SystemExit("Not all is recorded: name a folder of photographs.")
        os.environ |= {"RAY_worker_niceness": "0", "RAY_USAGE_STATS_ENABLED": "0"}  # as polite as the processes
        import ray

        from benchmarks.bulk_rate import labels_for

        self._recipe: Recipes = {"model": args.model, "labels": labels_for(args.photos, args.labels)}
        self._folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory()))
        round_ = str(self._folder / "round")
        hook = {"worker_process_setup_hook": lambda: note_start("viewvote.bulk.on_ray", round_)}
        quiet = {"include_dashboard": False, "log_to_driver": False, "logging_level": "ERROR"}
        ray.init(address="local", num_cpus=WORKERS, runtime_env=hook, **quiet)
        self._stack.callback(ray.shutdown)
        self._shards = make_shards(args.photos, self._folder, shards=args.shards, each=args.each)


def table(found: dict[str, list[dict[str, float]]], images: int) -> Iterator[str]:
    """A line for each way; rates against the processes' of the same round."""
    yield "| way | s to the first shard | worker s per image | core s per image | rate in worker time | in core time |"
    yield "|---|---:|---:|---:|---:|---:|"
    for way, title in TITLES.items():
        start = median(one["start"] for one in found[way])
        seconds = [median(one[what] for one in found[way]) / images for what in ("wall", "core")]
        pairs = list(zip(found["processes"], found[way], strict=True))
        rates = [median(theirs[what] / ours[what] for theirs, ours in pairs) for what in ("wall", "core")]
        cells = [f"{start:.1f}", *(f"{one:.4f}" for one in seconds), *(f"{rate:.0%}" for rate in rates)]
        yield f"| {title} | {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("photos", type=Path, nargs="?", help="a folder; needed unless all is recorded")
    parser.add_argument("--shards", type=int, default=8)
    parser.add_argument("--each", type=int, default=100, help="images of a shard")
    parser.add_argument("--part-images", type=int, default=20, help="a divisor of --each")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--labels", type=Path, help="a file of labels; without it the classes of the folder")
    parser.add_argument("--model", default="pocket")
    add_records(parser, "bulk-ray")
    add_write(parser)
    args = parser.parse_args()
    place = section("benchmarks.bulk_ray", write=args.write)
    settings = {name: getattr(args, name) for name in ("shards", "each", "part_images", "model")}
    kept = Kept(args.records, settings, anew=args.anew)
    found: dict[str, list[dict[str, float]]] = {way: [] for way in WAYS}
    with ExitStack() as stack:
        bench = Bench(args, stack)
        for number in range(args.rounds):
            for way, seconds in found.items():
                seconds.append(kept.unit([way, number], lambda way=way, number=number: bench.run(way, number)))
    size = f"{args.shards} shards of {args.each} photographs, {args.rounds} rounds"
    place.show([f"{measured_on(kept)}; {size}.", "", *table(found, args.shards * args.each)])


if __name__ == "__main__":
    main()
