"""Seconds per image and peak memory of each method with the embedded model, each in a process of its own.

python -m benchmarks.pocket_cost PHOTOS [--images 6] [--write]
"""

import argparse
import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from benchmarks.sections import add_write, section
from viewvote import Classifier

LABELS = [f"{kind} number {i}" for i in range(9) for kind in ("cat", "dog", "car", "flower")] + [
    "rocket"
]  # 37, as Pets
MODES = {
    "zero-shot": ("pocket", None),
    "ensemble": ("pocket", None),
    "marginal": ("pocket", None),
    "mta": ("pocket", None),
    "zero": ("pocket", None),
    "tpt": ("pocket-torch", None),
    "rlcf": ("pocket-torch", "pocket"),
}


def measure(method: str, photos: list[Path]) -> dict[str, float]:
    model, teacher = MODES[method]
    classifier = Classifier(model, labels=LABELS, method=method, teacher=teacher)
    classifier(photos[0])
    taken = []
    for photo in photos:
        start = time.perf_counter()
        classifier(photo)
        taken.append(time.perf_counter() - start)
    return {"seconds": statistics.median(taken), "mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("photos", type=Path)
    parser.add_argument("--images", type=int, default=6)
    parser.add_argument("--only", choices=MODES)
    add_write(parser)
    args = parser.parse_args()
    photos = sorted(args.photos.rglob("*.jpg"))[: args.images]
    if args.only:
        print(json.dumps(measure(args.only, photos)))
        return
    section("benchmarks.pocket_cost", write=args.write).show(table(asked(args)))


def asked(args: argparse.Namespace) -> Iterator[tuple[str, dict[str, float]]]:
    """What each method measures in a process of its own."""
    for method in MODES:
        chosen = [str(args.photos), f"--images={args.images}", f"--only={method}"]
        command = [sys.executable, "-m", "benchmarks.pocket_cost", *chosen]
        yield method, json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def table(measured: Iterable[tuple[str, dict[str, float]]]) -> Iterator[str]:
    """The lines of the table; the first method is what the others are compared with."""
    yield "| method | model | s per image | x zero-shot | peak memory |"
    yield "|---|---|---|---|---|"
    base = 0.0
    for method, found in measured:
        base = base or found["seconds"]
        ratio = found["seconds"] / base
        yield f"| {method} | {MODES[method][0]} | {found['seconds']:.3f} | {ratio:.0f} | {found['mb']:.0f} MB |"


if __name__ == "__main__":
    main()
