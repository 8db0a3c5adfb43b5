"""Resident memory of a run at each tenth of its samples: flat, whatever their number.

The pictures are files of one folder; the toy encoder sees them, so that nothing but the harness is measured.
"""

import argparse
import json
import tempfile
from pathlib import Path

from benchmarks.kill_trials import make_folder
from viewvote.runs import RunSpec, run
from viewvote.runs.progress import Progress
from viewvote.runs.summary import peak_memory_mb


def resident_mb() -> float:
    """What the process holds now (Linux)."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return round(pages * 4096 / 1e6, 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=20_000)
    parser.add_argument("--views", type=int, default=8)
    args = parser.parse_args()
    rows: list[dict[str, float | None]] = []

    def watch(moment: Progress) -> None:
        if moment.done % (args.images // 10) == 0:
            rows.append({"done": moment.done, "resident_mb": resident_mb(), "peak_mb": peak_memory_mb()})

    with tempfile.TemporaryDirectory() as folder:
        make_folder(Path(folder) / "data", args.images)
        spec = RunSpec(dataset=str(Path(folder) / "data"), model="toy", views=args.views)
        summary = run(spec, out=Path(folder) / "runs", watch=watch)
        size = (Path(summary.path) / "records.jsonl").stat().st_size
    for row in rows:
        print(json.dumps(row))
    print(
        json.dumps(
            {"images": args.images, "records_mb": round(size / 1e6, 1), "images_per_second": summary.images_per_second}
        )
    )


if __name__ == "__main__":
    main()
