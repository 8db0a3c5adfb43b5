"""Resident memory of a run at each tenth of its samples: flat, whatever their number.

The pictures are files of one folder; the toy encoder sees them, so that nothing but the harness is measured. What was
measured is kept, so a second call only makes the table.
"""

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.kept import Kept
from benchmarks.kill_trials import make_folder
from benchmarks.sections import add_write, section
from fuzz.ledger import version
from viewvote.runs import RunSpec, run
from viewvote.runs.progress import Progress
from viewvote.runs.summary import peak_memory_mb

KEPT = Path(__file__).parent / "results" / "flat-memory.jsonl"


def resident_mb() -> float:
    """What the process holds now (Linux)."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return round(pages * 4096 / 1e6, 1)


def measured(images: int, views: int) -> dict[str, Any]:
    """What one run held at each tenth, and the size of its records."""
    rows: list[dict[str, float | None]] = []

    def watch(moment: Progress) -> None:
        if moment.done % (images // 10) == 0:
            rows.append({"done": moment.done, "resident_mb": resident_mb(), "peak_mb": peak_memory_mb()})

    with tempfile.TemporaryDirectory() as folder:
        make_folder(Path(folder) / "data", images)
        spec = RunSpec(dataset=str(Path(folder) / "data"), model="toy", views=views)
        summary = run(spec, out=Path(folder) / "runs", watch=watch)
        size = (Path(summary.path) / "records.jsonl").stat().st_size
    return {"rows": rows, "records_mb": round(size / 1e6, 1), "version": version()}


def table(found: dict[str, Any]) -> Iterator[str]:
    """A row for each tenth."""
    yield "| images done | resident | peak |"
    yield "|---|---|---|"
    for row in found["rows"]:
        yield f"| {row['done']:,} | {row['resident_mb']:.1f} MB | {row['peak_mb']:.1f} MB |"
    yield ""
    yield f"The records grew to {found['records_mb']:.0f} MB (n = 1 run, version {found['version']})."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=20_000)
    parser.add_argument("--views", type=int, default=8)
    parser.add_argument("--anew", action="store_true", help="forget what was measured")
    add_write(parser)
    args = parser.parse_args()
    place = section("benchmarks.flat_memory", write=args.write)
    kept = Kept(KEPT, {"images": args.images, "views": args.views}, anew=args.anew)
    place.show(table(kept.unit(["run"], lambda: measured(args.images, args.views))))


if __name__ == "__main__":
    main()
