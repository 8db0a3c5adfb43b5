"""Images per second of `predict_many` against one at a time, and memory while streaming, on the embedded model.

    python -m benchmarks.stream PHOTOS [--images 40] [--rounds 5] [--stream 2000]

Both modes see the same photos in the same process, in alternating order; the ratio is the median over rounds.
"""

import argparse
import itertools
import statistics
import time
from collections.abc import Callable
from pathlib import Path

from viewvote import Classifier

LABELS = ["cat", "dog", "bird", "horse", "car", "bicycle", "boat", "airplane", "chair", "house", "tree", "flower"]


def resident_megabytes() -> float:
    fields = Path("/proc/self/statm").read_text().split()
    return int(fields[1]) * 4096 / 1e6


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("photos", type=Path)
    parser.add_argument("--model", default="pocket")
    parser.add_argument("--images", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--views", type=int, default=64)
    parser.add_argument("--stream", type=int, default=2000)
    args = parser.parse_args()
    photos = sorted(args.photos.rglob("*.jpg"))[: args.images]
    if not photos:
        parser.error(f"no .jpg below {args.photos}")
    classifier = Classifier(args.model, labels=LABELS, n_views=args.views)
    classifier(photos[0])

    pairs = []
    for _ in range(args.rounds):
        one = seconds(lambda: [classifier(photo) for photo in photos])
        many = seconds(lambda: list(classifier.predict_many(photos)))
        pairs.append((one, many))
    rates = [len(photos) / statistics.median(column) for column in zip(*pairs, strict=True)]
    ratios = sorted(one / many for one, many in pairs)
    print(f"one at a time: {rates[0]:.2f} images/s; predict_many: {rates[1]:.2f} images/s")
    print(f"ratio {statistics.median(ratios):.2f} (range {ratios[0]:.2f}-{ratios[-1]:.2f}, {args.rounds} rounds)")

    quick = classifier.with_labels(LABELS)
    quick.n_views = 4  # memory does not depend on the time spent encoding
    levels = []
    for n, _ in enumerate(quick.predict_many(itertools.islice(itertools.cycle(photos), args.stream)), start=1):
        if n % max(1, args.stream // 10) == 0:
            levels.append(resident_megabytes())
    print(f"resident MB over {args.stream} streamed images: " + " ".join(f"{level:.0f}" for level in levels))


if __name__ == "__main__":
    main()
