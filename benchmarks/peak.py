"""What one core can multiply and add at most, and what ONNX Runtime reaches of it with a ViT-B/16.

    python -m benchmarks.peak [--write]

The peaks are of operands that stay in registers (peak.c, compiled with cc; the best of five rounds); the towers' rates
come from what `benchmarks.runtimes` recorded of its ViT-B/16, run as viewvote does: one view per core.
"""

import argparse
import re
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from benchmarks.kept import Kept, add_records
from benchmarks.machine import measured_on
from benchmarks.runtimes import RESULTS, RUNTIMES, Times, recorded
from benchmarks.sections import add_write, section
from viewvote.encoders.onnx.runtimes import count_workers

SOURCE = Path(__file__).parent / "peak.c"
RATE = re.compile(r"([a-z][\w ]*?) (\d+)(?:, | GMAC)")
VIEW_GMAC = 17.5
"""Billions of multiply-adds of a view; exported towers leave out 7% of them in the last block."""

PRECISIONS = {"fp32": "fp32", "int8": "static"}
"""How the variants of towers are called whose products are those of a peak."""


def peaks() -> dict[str, float]:
    """Billions of multiply-adds of one core per second, by instruction: the best of the rounds."""
    with tempfile.TemporaryDirectory() as name:
        program = f"{name}/peak"
        subprocess.run(["cc", "-O2", "-mavx2", "-mfma", str(SOURCE), "-o", program], check=True)
        return rates(subprocess.run([program], check=True, capture_output=True, text=True).stdout)


def rates(text: str) -> dict[str, float]:
    """What the program printed, by instruction: the best of its lines."""
    found: dict[str, float] = {}
    for title, rate in RATE.findall(text):
        found[title] = max(float(rate), found.get(title, 0.0))
    return found


def reached(times: Times, workers: int) -> dict[tuple[str, str], float]:
    """Billions of multiply-adds of one core per second of every variant and runtime, with views spread over cores."""
    return {
        (variant, runtime): VIEW_GMAC / (median(ms) * workers / 1000)
        for (variant, runtime, mode), ms in times.items()
        if mode == "spread"
    }


def table(most: dict[str, float], towers: dict[tuple[str, str], float]) -> Iterator[str]:
    """The peaks of each precision, then the towers in it as a share of the highest."""
    yield "| | GMAC/s of a core | of the peak |"
    yield "|---|---:|---:|"
    for precision, variant in PRECISIONS.items():
        known = {title: rate for title, rate in most.items() if title.split()[0] == precision}
        for title, rate in known.items():
            yield f"| peak, {title} | {rate:.0f} | |"
        for (kind, runtime), rate in towers.items():
            if kind == variant:
                share = rate / max(known.values())
                yield f"| {RUNTIMES[runtime]}, {precision}, whole tower | {rate:.0f} | {share:.0%} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--towers", type=Path, default=RESULTS / "runtimes.jsonl", help="what benchmarks.runtimes kept")
    add_records(parser, "peak")
    add_write(parser)
    args = parser.parse_args()
    place = section("benchmarks.peak", write=args.write)
    times = recorded("vit", args.towers)
    if not times:
        raise SystemExit(f"{args.towers} has no ViT-B/16: run `python -m benchmarks.runtimes --towers vit` first.")
    kept = Kept(args.records, {"source": SOURCE.name}, anew=args.anew)
    most, workers = kept.unit(["peaks"], peaks), kept.unit(["cores"], lambda: count_workers(0))
    place.show([f"{measured_on(kept)}.", "", *table(most, reached(times, workers))])


if __name__ == "__main__":
    main()
