"""Processor time of an image from encoded bytes to its answer, and what reading shards and tables costs beside it.

    python -m benchmarks.bulk_rate FOLDER [--labels FILE] [--models pocket clip-b16] [--write]

FOLDER holds photographs; without --labels the names of its classes are asked about, as `viewvote eval` reads them.
Every round goes through the same images: encoded bytes in memory through predict_many, and in the first row a tar shard
and a Parquet file through what `viewvote classify --output NAME.parquet` runs, parts written. Processor time of this
process, as other processes may be at work too, and wall time, which counts where none is. Medians over the rounds.
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.kept import Kept, add_records
from benchmarks.machine import measured_on
from benchmarks.sections import add_write, section
from benchmarks.shelves import write_tar
from viewvote import Classifier
from viewvote.bulk.output import Table
from viewvote.bulk.parts import Task, answer_pieces
from viewvote.bulk.schema import schema_of
from viewvote.datasets import open_dataset
from viewvote.labels.files import read_labels
from viewvote.sources import open_source

READING = {"tar": "a tar shard", "parquet": "a Parquet file"}
VOTES = {"adaptive": "adaptive, anchored vote", "64": "64, ZERO"}
MANY = 100_000_000
USD_PER_HOUR = 0.05

Round = dict[str, dict[str, float]]
"""What each way cost: its seconds, and what was seen of the images."""


@dataclass(frozen=True)
class Row:
    """What one row of the table measures."""

    model: str
    views: str
    images: int
    rounds: int
    reads: bool = False


ROWS = (
    Row("pocket", "adaptive", 120, 5, reads=True),
    Row("pocket", "64", 20, 3),
    Row("clip-b16", "adaptive", 40, 3),
    Row("clip-b16", "64", 5, 3),
)


def photographs(folder: Path, n: int) -> dict[str, bytes]:
    """So many photographs, spread evenly over the folder."""
    paths = sorted(folder.rglob("*.jpg"))
    if not paths:
        raise SystemExit(f"{folder} has no photographs (.jpg).")
    return {f"{i:05}.jpg": paths[i * len(paths) // n].read_bytes() for i in range(n)}


def labels_for(photos: Path, file: Path | None) -> list[str]:
    """The labels of the file, or the classes of the folder, each once."""
    return list(dict.fromkeys(read_labels(file) if file else open_dataset(photos).class_names))


def ways_of(row: Row, photos: Path, labels: list[str], folder: Path) -> dict[str, Callable[[], dict[str, float]]]:
    """What a round runs; each returns what it saw of the images."""
    images = photographs(photos, row.images)
    n_views = row.views if row.views == "adaptive" else int(row.views)
    classifier = Classifier(row.model, labels=labels, n_views=n_views)
    write_tar(folder / "s.tar", images)
    pq.write_table(pa.table({"image": list(images.values())}), folder / "s.parquet", row_group_size=100)

    def in_memory() -> dict[str, float]:
        views = mean(one.views_used for one in classifier.predict_many(list(images.values())))
        return {"views_used": views, "kB": mean(map(len, images.values())) / 1000, "labels": len(classifier.labels)}

    def written(place: str) -> Callable[[], dict[str, float]]:
        source = open_source(folder / place)

        def run() -> dict[str, float]:
            output = folder / f"{place}-{time.monotonic_ns()}.parquet"
            tasks = (Task(i, piece) for i, piece in enumerate(source.pieces()))
            for _ in answer_pieces(classifier, tasks, Table(str(output), schema_of({})), part_images=1000, top=3):
                pass
            return {"row_bytes": sum(part.stat().st_size for part in output.iterdir()) / row.images}

        return run

    reading = {way: written(f"s.{way}") for way in READING} if row.reads else {}
    return {"memory": in_memory, **reading}


def spent(run: Callable[[], dict[str, float]]) -> dict[str, float]:
    """The seconds that a run takes, and what it saw."""
    wall, core = time.monotonic(), time.process_time()
    seen = run()
    return {"core": time.process_time() - core, "wall": time.monotonic() - wall} | seen


def measure(row: Row, photos: Path | None, labels: Path | None, kept: Kept) -> list[Round]:
    """What each round of a row found."""
    ready: dict[str, Callable[[], dict[str, float]]] = {}
    with tempfile.TemporaryDirectory() as name:

        def one() -> Round:
            if photos is None:
                raise SystemExit("Not all is recorded: name a folder of photographs.")
            if not ready:
                ready.update(ways_of(row, photos, labels_for(photos, labels), Path(name)))
                for run in ready.values():  # the first of each warms up
                    run()
            return {way: spent(run) for way, run in ready.items()}

        return [kept.unit([row.model, row.views, number], one) for number in range(row.rounds)]


def cost_table(found: Iterable[tuple[Row, list[Round]]]) -> Iterator[str]:
    """Core-seconds of an image in memory by model and views, and what so many images cost."""
    yield "| model | views | views used | n | core-seconds per image | core-hours for 100 million | USD per million |"
    yield "|---|---|---:|---:|---:|---:|---:|"
    for row, rounds in found:
        core = median(one["memory"]["core"] for one in rounds) / row.images
        hours = core * MANY / 3600
        used = rounds[0]["memory"]["views_used"]
        costs = f"{digits(core, 2)} | {digits(hours, 3)} | {digits(hours * USD_PER_HOUR / MANY * 1e6, 2)}"
        yield f"| `{row.model}` | {VOTES[row.views]} | {used:.1f} | {row.images} | {costs} |"


def digits(value: float, n: int) -> str:
    """The value rounded to so many digits, without an exponent."""
    return f"{float(f'{value:.{n}g}'):,.10g}"


def reading_table(rounds: list[Round]) -> Iterator[str]:
    """The rate from shards and tables as a share of that from memory, and the size of what was written."""
    yield "| from | rate in processor time | rate in wall time | bytes of an answer |"
    yield "|---|---:|---:|---:|"
    for way, title in READING.items():
        shares = [median(one["memory"][time] / one[way][time] for one in rounds) for time in ("core", "wall")]
        yield f"| {title} | {shares[0]:.1%} | {shares[1]:.1%} | {rounds[0][way]['row_bytes']:.0f} |"


def about(kept: Kept, found: list[tuple[Row, list[Round]]]) -> str:
    """What all rows have in common."""
    seen: list[dict[str, Any]] = [rounds[0]["memory"] for _, rounds in found]
    sizes = sorted(one["kB"] for one in seen)
    return f"{measured_on(kept)}; {seen[0]['labels']} labels; photographs of {sizes[0]:.0f} to {sizes[-1]:.0f} kB."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("photos", type=Path, nargs="?", help="a folder; needed unless all is recorded")
    parser.add_argument("--labels", type=Path, help="a file of labels")
    parser.add_argument("--models", nargs="+", default=["pocket", "clip-b16"])
    parser.add_argument("--images", type=int, help="of every row, in the place of its own number")
    add_records(parser, "bulk-rate")
    add_write(parser)
    args = parser.parse_args()
    cost, reading = (section("benchmarks.bulk_rate", part, write=args.write) for part in ("cost", "reading"))
    rows = [Row(r.model, r.views, args.images or r.images, r.rounds, r.reads) for r in ROWS if r.model in args.models]
    kept = Kept(args.records, {"images": args.images}, anew=args.anew)
    found = [(row, measure(row, args.photos, args.labels, kept)) for row in rows]
    cost.show([about(kept, found), "", *cost_table(found)])
    for row, rounds in found:
        if row.reads:
            reading.show([f"n {row.images}, {row.rounds} rounds.", "", *reading_table(rounds)])


if __name__ == "__main__":
    main()
