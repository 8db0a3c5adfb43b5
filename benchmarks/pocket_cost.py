"""Seconds per image and peak memory of each method with the embedded model, each in a process of its own.

python -m benchmarks.pocket_cost PHOTOS [--images 6]
"""

import argparse
import json
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

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
    args = parser.parse_args()
    photos = sorted(args.photos.rglob("*.jpg"))[: args.images]
    if args.only:
        print(json.dumps(measure(args.only, photos)))
        return
    print("| method | model | s per image | x zero-shot | peak memory |\n|---|---|---|---|---|")
    base = 0.0
    for method, (model, _) in MODES.items():
        chosen = [str(args.photos), f"--images={args.images}", f"--only={method}"]
        command = [sys.executable, "-m", "benchmarks.pocket_cost", *chosen]
        found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        base = base or found["seconds"]
        ratio = found["seconds"] / base
        print(f"| {method} | {model} | {found['seconds']:.3f} | {ratio:.0f} | {found['mb']:.0f} MB |", flush=True)


if __name__ == "__main__":
    main()
