"""How often the interval of macro accuracy holds the truth, simulated.

    python -m benchmarks.macro_interval [--samples 2000] [--write]

Every class of a sample has the same number of images, each answered rightly with the same probability, the truth.
"""

import argparse
from collections.abc import Iterator, Mapping

import numpy as np

from benchmarks.sections import add_write, section
from viewvote.metrics.accuracy import macro_accuracy

SHAPES = ((196, 1), (100, 4), (10, 50))
"""Classes and images of each."""

TRUTHS = (0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98)


def coverage(classes: int, images: int, truth: float, *, samples: int) -> float:
    """The share of samples whose interval holds the truth."""
    rng = np.random.default_rng(0)
    target = np.repeat(np.arange(classes), images)
    usable = np.ones(len(target), dtype=bool)
    rates = [macro_accuracy(target, rng.random(len(target)) < truth, usable) for _ in range(samples)]
    return sum(rate.low <= truth <= rate.high for rate in rates) / samples


def table(found: Mapping[tuple[int, int], Mapping[float, float]]) -> Iterator[str]:
    """The lines of the table: a row for each shape, a column for each truth."""
    truths = next(iter(found.values()))
    yield f"| classes x images | {' | '.join(f'{truth:.0%}' for truth in truths)} |"
    yield "|---" * (1 + len(truths)) + "|"
    for (classes, images), row in found.items():
        yield f"| {classes} x {images} | {' | '.join(f'{share:.1%}' for share in row.values())} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=2000)
    add_write(parser)
    args = parser.parse_args()
    place = section("benchmarks.macro_interval", write=args.write)
    found = {shape: {truth: coverage(*shape, truth, samples=args.samples) for truth in TRUTHS} for shape in SHAPES}
    place.show(table(found))


if __name__ == "__main__":
    main()
