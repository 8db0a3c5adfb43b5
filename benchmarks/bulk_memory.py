"""Memory of `viewvote classify` after the first 2,000 small images and at the end of many, for every source and sink.

    python -m benchmarks.bulk_memory [--write] [--images 50000] [--sources tar] [--sinks csv] [--names 1000000]

The toy encoder looks at one view, so that nothing but sources and sinks is measured. The command runs in a process of
its own; at both numbers of answers it notes the most that it has held so far. Then --names: the seconds to the first
answer of a flat folder of so many images.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path

from benchmarks.kept import Kept, add_records
from benchmarks.machine import measured_on
from benchmarks.sections import add_write, section
from benchmarks.shelves import LABELS, picture, write_tar

SOURCES = {
    "tar": "tar",
    "parquet": "Parquet",
    "arrow": "Arrow",
    "csv": "CSV of paths",
    "jsonl": "JSONL of paths",
    "folder": "folder",
}
SINKS = {"parquet": "Parquet", "jsonl": "JSONL", "csv": "CSV"}
FIRST = 2_000
"""Answers after which a process has all that it needs at any number of images."""

SHARD = 10_000
"""Images of a tar shard."""

COMMAND = ["--labels", ",".join(LABELS), "--model", "toy", "--views", "1", "--method", "zero-shot", "--quiet"]

CODE = """
import json, sys
from viewvote import Classifier
from viewvote.cli import main
def peak_mb():  # not getrusage's: that starts with what the parent holds
    with open("/proc/self/status") as status:
        return next(round(int(line.split()[1]) * 1024 / 1e6, 1) for line in status if line.startswith("VmHWM"))
marks, peaks = json.loads(sys.argv.pop(1)), []
answers = Classifier.predict_many
def watched(*args, **settings):
    for n, answer in enumerate(answers(*args, **settings), start=1):
        if n in marks:
            peaks.append(peak_mb())
        yield answer
Classifier.predict_many = watched
try:
    main()
finally:
    print(json.dumps(peaks), file=sys.stderr)
"""

Peaks = dict[tuple[str, str], list[float]]
"""Megabytes after the first and after all images, by source and sink."""


def make(kind: str, folder: Path, n: int) -> str:
    """A source of n small images; returns its place."""
    data = [picture(i, size=(16, 16)) for i in range(30)]
    if kind == "tar":
        for first in range(0, n, SHARD):
            members = {f"{i:06}.png": data[i % 30] for i in range(first, min(n, first + SHARD))}
            write_tar(folder / f"{first // SHARD:03}.tar", members)
        return f"{folder}/*.tar"
    if kind in ("parquet", "arrow"):
        return _rows(kind, folder, data, n)
    for i in range(30):
        (folder / f"{i:02}.png").write_bytes(data[i])
    if kind in ("csv", "jsonl"):
        head, line = ("path\n", "{}") if kind == "csv" else ("", '{{"path": "{}"}}')
        with (folder / f"t.{kind}").open("w") as file:
            file.write(head)
            file.writelines(line.format(f"{i % 30:02}.png") + "\n" for i in range(n))
        return f"{folder}/t.{kind}"
    (folder / "all").mkdir()
    for i in range(n):
        os.link(folder / f"{i % 30:02}.png", folder / "all" / f"{i:07}.png")
    return f"{folder}/all"


def _rows(kind: str, folder: Path, data: list[bytes], n: int) -> str:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table({"image": [data[i % 30] for i in range(n)]})
    if kind == "parquet":
        pq.write_table(table, folder / "t.parquet", row_group_size=5000)
    else:
        with pa.OSFile(f"{folder}/t.arrow", "wb") as file, pa.ipc.new_stream(file, table.schema) as stream:
            stream.write_table(table, max_chunksize=1000)
    return f"{folder}/t.{kind}"


def peaks_of(source: str, sink: str, marks: list[int]) -> list[float]:
    """The most that the command had held after so many images, the last number being all of them."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "in"
        folder.mkdir()
        args = ["classify", make(source, folder, marks[-1]), *COMMAND, "--output", f"{name}/answers.{sink}"]
        command = [sys.executable, "-c", CODE, json.dumps(marks), *args]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    peaks: list[float] = json.loads(done.stderr.splitlines()[-1])
    if len(peaks) != len(marks):
        raise SystemExit(f"{source} to {sink}: expected {marks[-1]} answers")
    return peaks


def start_of(names: int) -> dict[str, float]:
    """What it takes from the command to its first answer, of a folder of so many images (links to a few)."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "all"
        folder.mkdir()
        for i in range(names):
            if not i % 50_000:  # a file has at most so many names on most disks
                first = folder / f"{i:07}.png"
                first.write_bytes(picture(0))
            else:
                os.link(first, folder / f"{i:07}.png")
        args = ["classify", str(folder), *COMMAND, "--format", "jsonl"]
        start = time.monotonic()
        with subprocess.Popen([sys.executable, "-m", "viewvote", *args], stdout=subprocess.PIPE) as process:
            assert process.stdout is not None  # it was asked for
            json.loads(process.stdout.readline())
            wall = time.monotonic() - start
            user, system = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[11:13]
            status = Path(f"/proc/{process.pid}/status").read_text()
            process.kill()
    peak = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
    return {"wall": wall, "core": (int(user) + int(system)) / os.sysconf("SC_CLK_TCK"), "mb": peak * 1024 / 1e6}


def memory_table(peaks: Peaks) -> Iterator[str]:
    """A row for each source and a column for each sink."""
    sources, sinks = (list(dict.fromkeys(names)) for names in zip(*peaks, strict=True))
    yield "| source | " + " | ".join(f"to {SINKS[sink]}" for sink in sinks) + " |"
    yield "|---|" + "---:|" * len(sinks)
    for source in sources:
        cells = (" -> ".join(f"{mb:.1f}" for mb in peaks[source, sink]) for sink in sinks)
        yield f"| {SOURCES[source]} | {' | '.join(cells)} |"


def names_table(names: int, found: dict[str, float]) -> Iterator[str]:
    """What a flat folder of so many images takes to begin with."""
    yield "| images in the folder | s to the first answer | processor s | MB at most by then |"
    yield "|---:|---:|---:|---:|"
    yield f"| {names:,} | {found['wall']:.1f} | {found['core']:.1f} | {found['mb']:.0f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=50_000)
    parser.add_argument("--sources", nargs="+", default=list(SOURCES), choices=SOURCES)
    parser.add_argument("--sinks", nargs="+", default=list(SINKS), choices=SINKS)
    parser.add_argument("--names", type=int, default=1_000_000)
    add_records(parser, "bulk-memory")
    add_write(parser)
    args = parser.parse_args()
    memory, start = (section("benchmarks.bulk_memory", part, write=args.write) for part in ("sources", "names"))
    kept = Kept(args.records, {"images": args.images}, anew=args.anew)
    marks = [min(FIRST, args.images // 2), args.images]
    peaks: Peaks = {}
    for source, sink in product(args.sources, args.sinks):
        peaks[source, sink] = kept.unit([source, sink], lambda at=(source, sink): peaks_of(*at, marks))
        print(f"{source} to {sink}", file=sys.stderr, flush=True)
    found = kept.unit(["names", args.names], lambda: start_of(args.names))
    memory.show(
        [f"{measured_on(kept)}; MB after {marks[0]:,} and after {marks[1]:,} images.", "", *memory_table(peaks)]
    )
    start.show(names_table(args.names, found))


if __name__ == "__main__":
    main()
