"""Seconds to ask encoded images about other labels, against classifying the images themselves.

    viewvote encode PHOTOS --views 16 --out features
    python -m benchmarks.ask_again features [--labels-file names.txt] [--rounds 5] [--images 20]

Processor time stands beside the time on the clock: on a busy machine only the first is the program's own.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path

from viewvote import Classifier, open_features
from viewvote.labels.files import read_labels

FEW = ["indoors", "outdoors", "an animal"]


def measured(work: Callable[[], object], *, rounds: int) -> str:
    """The medians of both kinds of seconds."""
    pairs = []
    for _ in range(rounds):
        clock, processor = time.perf_counter(), time.process_time()
        work()
        pairs.append((time.perf_counter() - clock, time.process_time() - processor))
    clocks, processors = zip(*pairs, strict=True)
    return f"{statistics.median(clocks):.2f} s ({statistics.median(processors):.2f} s of processor time)"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("features", type=Path)
    parser.add_argument("--labels-file", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--images", type=int, default=20, help="how many are also classified from their files")
    args = parser.parse_args()
    features = open_features(args.features)
    made = features.encoding
    first = Classifier(made.model, labels=FEW, n_views=made.n_views, seed=made.seed, augment=made.augment)
    asked = [FEW] if args.labels_file is None else [FEW, read_labels(args.labels_file)]
    for labels in asked:
        classifier = first.with_labels(labels)
        classifier.predict(features)  # warms up
        found = measured(lambda one=classifier: one.predict(features), rounds=args.rounds)
        print(f"{len(features)} images x {made.n_views} views from features, {len(labels)} labels: {found}")
    files = [path for path in features.paths if path is not None][: args.images]
    found = measured(lambda: first.predict(files), rounds=1)
    print(f"{len(files)} images from their files, {len(FEW)} labels: {found}")


if __name__ == "__main__":
    main()
