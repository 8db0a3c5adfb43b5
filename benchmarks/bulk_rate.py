"""What reading shards and tables costs: images per second of processor time, beside predict_many on bytes in memory.

Every round goes through the same images three ways, in turn: encoded bytes in memory through predict_many, a tar shard
and a Parquet file through what `viewvote classify --output NAME.parquet` runs, parts written. Processor time of this
process, as other processes may be at work too, and wall time, which counts where none is. Prints a JSON line.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import mean, median

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.shelves import write_tar
from viewvote import Classifier
from viewvote.bulk.output import Table
from viewvote.bulk.parts import Task, answer_pieces
from viewvote.bulk.schema import schema_of
from viewvote.sources import open_source


def photographs(folder: Path, n: int) -> dict[str, bytes]:
    paths = sorted(folder.rglob("*.jpg"))
    return {f"{i:05}.jpg": paths[i * len(paths) // n].read_bytes() for i in range(n)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("photos", type=Path)
    parser.add_argument("--images", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--labels", type=Path, help="one a line", default=None)
    parser.add_argument("--views", default="adaptive")
    parser.add_argument("--model", default="pocket")
    parser.add_argument("--ways", default="memory,tar,parquet", help="memory is always among them")
    args = parser.parse_args()
    images = photographs(args.photos, args.images)
    labels = args.labels.read_text().split("\n") if args.labels else ["a dog", "a cat", "a car", "a bird", "a flower"]
    n_views = args.views if args.views == "adaptive" else int(args.views)
    classifier = Classifier(args.model, labels=[label for label in labels if label], n_views=n_views)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_tar(folder / "s.tar", images)
        pq.write_table(pa.table({"image": list(images.values())}), folder / "s.parquet", row_group_size=100)

        views_used: list[int] = []

        def in_memory() -> None:
            views_used[:] = [one.views_used for one in classifier.predict_many(list(images.values()))]

        def written(place: str) -> Callable[[], None]:
            source = open_source(folder / place)

            def run() -> None:
                table = Table(str(folder / f"{place}-{time.monotonic_ns()}.parquet"), schema_of({}))
                tasks = (Task(i, piece) for i, piece in enumerate(source.pieces()))
                for _ in answer_pieces(classifier, tasks, table, part_images=1000, top=3):
                    pass

            return run

        ways = {"memory": in_memory, "tar": written("s.tar"), "parquet": written("s.parquet")}
        ways = {way: run for way, run in ways.items() if way in args.ways.split(",")}
        seconds: dict[str, list[float]] = {way: [] for way in ways}
        walls: dict[str, list[float]] = {way: [] for way in ways}
        for round_ in range(args.rounds + 1):  # the first warms up
            for way, run in ways.items():
                wall, start = time.monotonic(), time.process_time()
                run()
                if round_:
                    seconds[way].append(time.process_time() - start)
                    walls[way].append(time.monotonic() - wall)
    size = sum(map(len, images.values()))
    result = {
        "model": args.model,
        "images": args.images,
        "rounds": args.rounds,
        "views": args.views,
        "views_used": round(mean(views_used), 2),
        "labels": len(classifier.labels),
        "kB_per_image": round(size / args.images / 1000, 1),
        "core_seconds_per_image": {way: round(median(times) / args.images, 4) for way, times in seconds.items()},
        "rate_against_memory": {
            way: round(median(m / t for m, t in zip(seconds["memory"], times, strict=True)), 3)
            for way, times in seconds.items()
        },
        "wall_rate_against_memory": {
            way: round(median(m / t for m, t in zip(walls["memory"], times, strict=True)), 3)
            for way, times in walls.items()
        },
        "wall_seconds_per_image": {way: round(median(times) / args.images, 4) for way, times in walls.items()},
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
