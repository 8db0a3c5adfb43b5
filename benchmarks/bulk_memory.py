"""Resident memory of `viewvote classify` after the first 2,000 small images and at the end of many, and the start.

The toy encoder looks at one view, so that nothing but sources and sinks is measured. Prints a JSON line per source.
With --names, the seconds to the first item of a flat folder of so many empty files.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.shelves import LABELS, picture, write_tar

CODE = """
import json, sys, time
from benchmarks.flat_memory import resident_mb
from viewvote.bulk import BulkJob, Recipe, classify_bulk
from viewvote.sources import open_source
place, output, labels = sys.argv[1], sys.argv[2], sys.argv[3].split(",")
seen = []
def watch(totals):
    if totals.images in (2000, 10000, 50000) or totals.images % 20000 == 0:
        seen.append((totals.images, resident_mb()))
recipe = Recipe({"model": "toy", "labels": labels, "n_views": 1, "method": "zero-shot"})
totals = classify_bulk(BulkJob(open_source(place), recipe, output), watch=watch)
print(json.dumps({"images": totals.images, "resident_mb": dict(seen)}))
"""


def make(kind: str, folder: Path, n: int) -> str:
    """A source of n small images; returns its place."""
    data = [picture(i, size=(16, 16)) for i in range(30)]
    if kind == "tar":
        for shard in range(n // 10_000 or 1):
            size = min(n, 10_000)
            write_tar(folder / f"{shard:03}.tar", {f"{i:06}.png": data[i % 30] for i in range(size)})
        return f"{folder}/*.tar"
    if kind == "parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.table({"image": [data[i % 30] for i in range(n)]}), folder / "t.parquet", row_group_size=5000)
        return f"{folder}/t.parquet"
    for i in range(30):
        (folder / f"{i:02}.png").write_bytes(data[i])
    if kind == "jsonl":
        with (folder / "t.jsonl").open("w") as file:
            file.writelines(json.dumps({"path": f"{i % 30:02}.png"}) + "\n" for i in range(n))
        return f"{folder}/t.jsonl"
    (folder / "all").mkdir()
    for i in range(n):
        os.link(folder / f"{i % 30:02}.png", folder / "all" / f"{i:07}.png")
    return f"{folder}/all"


def start_seconds(names: int) -> dict[str, float | int]:
    """To the first item of a folder of so many names."""
    with tempfile.TemporaryDirectory() as name:
        for i in range(names):
            os.close(os.open(f"{name}/{i:07}.jpg", os.O_CREAT | os.O_WRONLY))
        code = "import sys; from viewvote.sources import open_source; print(next(iter(open_source(sys.argv[1]))).key)"
        start, used = time.monotonic(), os.times()
        subprocess.run([sys.executable, "-c", code, name], check=True, stdout=subprocess.DEVNULL)
        now = os.times()
        processor = now.children_user + now.children_system - used.children_user - used.children_system
        return {"names": names, "wall_seconds": round(time.monotonic() - start, 2), "core_seconds": round(processor, 2)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=200_000)
    parser.add_argument("--kinds", default="tar,parquet,jsonl,folder")
    parser.add_argument("--names", type=int, default=0)
    args = parser.parse_args()
    if args.names:
        print(json.dumps(start_seconds(args.names)))
        return
    for kind in args.kinds.split(","):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name) / "in"
            folder.mkdir()
            place = make(kind, folder, args.images)
            command = [sys.executable, "-c", CODE, place, f"{name}/t.parquet", ",".join(LABELS)]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            print(json.dumps({"source": kind, **json.loads(done.stdout)}), flush=True)


if __name__ == "__main__":
    main()
