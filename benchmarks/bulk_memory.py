"""Memory of `viewvote classify` after the first 2,000 small images and at the end of many, for every source and sink.

The toy encoder looks at one view, so that nothing but sources and sinks is measured. The command runs in a process of
its own; at some numbers of answers it notes what it holds, and the most that it has held so far. Prints a JSON line
for each source and sink. With --names, the seconds to the first answer of a flat folder of so many images.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.shelves import LABELS, picture, write_tar

SOURCES = ("tar", "parquet", "arrow", "csv", "jsonl", "folder")
SINKS = ("parquet", "jsonl", "csv")
SHARD = 10_000
"""Images of a tar shard."""

COMMAND = ["--labels", ",".join(LABELS), "--model", "toy", "--views", "1", "--method", "zero-shot", "--quiet"]

CODE = """
import json, sys
from benchmarks.flat_memory import resident_mb
from viewvote import Classifier
from viewvote.cli import main
def peak_mb():  # not getrusage's: that starts with what the parent holds
    with open("/proc/self/status") as status:
        return next(round(int(line.split()[1]) * 1024 / 1e6, 1) for line in status if line.startswith("VmHWM"))
rows = []
answers = Classifier.predict_many
def watched(*args, **settings):
    for n, answer in enumerate(answers(*args, **settings), start=1):
        if n in (2_000, 10_000) or n % 50_000 == 0:
            rows.append((n, resident_mb(), peak_mb()))
        yield answer
Classifier.predict_many = watched
try:
    main()
finally:
    print(json.dumps(rows), file=sys.stderr)
"""


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


def curve(place: str, output: str, n: int) -> dict[str, Any]:
    """What the command holds on its way through the place."""
    args = ["classify", place, *COMMAND, "--output", output]
    used = os.times()
    done = subprocess.run([sys.executable, "-c", CODE, *args], check=False, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    now = os.times()
    rows = json.loads(done.stderr.splitlines()[-1])
    if rows[-1][0] != n:
        raise SystemExit(f"expected {n} answers; the last that was seen is {rows[-1][0]}")
    peaks = {images: peak for images, _, peak in rows}
    return {
        "images": n,
        "resident_mb": {images: held for images, held, _ in rows},
        "peak_mb": peaks,
        "peak_ratio": round(peaks[n] / peaks[2000], 3),
        "core_ms_per_image": round((now.children_user - used.children_user) * 1000 / n, 2),
    }


def start_seconds(names: int) -> dict[str, float | int]:
    """From the command to its first answer, of a folder of so many images (links to one)."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "all"
        folder.mkdir()
        (Path(name) / "one.png").write_bytes(picture(0))
        for i in range(names):
            if not i % 50_000:  # a file has at most so many names on most disks
                (folder / f"{i:07}.png").write_bytes(picture(0))
                first = folder / f"{i:07}.png"
            else:
                os.link(first, folder / f"{i:07}.png")
        args = ["classify", str(folder), *COMMAND, "--format", "jsonl"]
        start = time.monotonic()
        with subprocess.Popen([sys.executable, "-m", "viewvote", *args], stdout=subprocess.PIPE) as process:
            assert process.stdout is not None  # it was asked for
            answer = json.loads(process.stdout.readline())
            wall = time.monotonic() - start
            user, system = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[11:13]
            process.kill()
        ticks = os.sysconf("SC_CLK_TCK")
        seconds = {"wall_seconds": wall, "core_seconds": (int(user) + int(system)) / ticks}
        return {"names": names, "first": answer["label"], **{what: round(one, 2) for what, one in seconds.items()}}


def pairs(sources: str, sinks: str) -> Iterator[tuple[str, str]]:
    yield from ((source, sink) for source in sources.split(",") for sink in sinks.split(","))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=200_000, help="a multiple of 50,000")
    parser.add_argument("--sources", default=",".join(SOURCES))
    parser.add_argument("--sinks", default=",".join(SINKS))
    parser.add_argument("--names", type=int, default=0)
    args = parser.parse_args()
    if args.names:
        print(json.dumps(start_seconds(args.names)))
        return
    for source, sink in pairs(args.sources, args.sinks):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name) / "in"
            folder.mkdir()
            found = curve(make(source, folder, args.images), f"{name}/answers.{sink}", args.images)
        print(json.dumps({"source": source, "sink": sink, **found}), flush=True)


if __name__ == "__main__":
    main()
