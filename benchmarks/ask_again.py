"""Seconds to ask encoded images about other labels, against classifying the images themselves.

    python -m benchmarks.ask_again PHOTOS --labels-file FILE [--images 1000] [--rounds 5] [--write]

Processor time stands beside the time on the clock: on a busy machine only the first is the program's own.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.bulk_rate import photographs
from benchmarks.sections import add_write, section
from viewvote import Classifier
from viewvote.labels.files import read_labels

FEW = ["indoors", "outdoors", "an animal"]
VIEWS = 16
FROM_FILES = 20
"""How many images are also classified from their bytes: enough, as it takes a hundred times as long."""


def measured(work: Callable[[], object], *, rounds: int) -> tuple[float, float]:
    """The medians of seconds on the clock and of the processors."""
    pairs = []
    for _ in range(rounds):
        clock, processor = time.perf_counter(), time.process_time()
        work()
        pairs.append((time.perf_counter() - clock, time.process_time() - processor))
    clocks, processors = zip(*pairs, strict=True)
    return statistics.median(clocks), statistics.median(processors)


def table(rows: list[tuple[str, int, int, tuple[float, float]]]) -> Iterator[str]:
    """The lines of the table: what was asked, of how many labels and images, and the seconds of all of them."""
    yield "| asked | labels | images | s an image | processor s an image |"
    yield "|---|---:|---:|---:|---:|"
    for asked, labels, images, (clock, processor) in rows:
        yield f"| {asked} | {labels} | {images:,} | {clock / images:.5f} | {processor / images:.5f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("photos", type=Path)
    parser.add_argument("--labels-file", type=Path, required=True)
    parser.add_argument("--images", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    add_write(parser)
    args = parser.parse_args()
    place = section("benchmarks.ask_again", write=args.write)
    images = list(photographs(args.photos, args.images).values())
    first = Classifier("pocket", labels=FEW, n_views=VIEWS)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        features = first.encode(images, out=Path(folder) / "features")
        for labels in (FEW, read_labels(args.labels_file)):
            classifier = first.with_labels(labels)
            classifier.predict(features)  # warms up
            found = measured(lambda one=classifier: one.predict(features), rounds=args.rounds)
            rows.append(("features", len(classifier.labels), len(features), found))
    few = images[:FROM_FILES]
    rows.append(("encoded bytes", len(FEW), len(few), measured(lambda: first.predict(few), rounds=args.rounds)))
    place.show(table(rows))


if __name__ == "__main__":
    main()
