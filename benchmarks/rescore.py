"""What reporting and rescoring many records takes, with each command in a process of its own.

    nice -n 15 python -m benchmarks.rescore [--n-records N ...] [--write]

Seconds are of the processor, which other work on the machine changes little; memory is the most that the process held.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from time import process_time

import numpy as np

from benchmarks.kept import Kept, add_records
from benchmarks.machine import measured_on
from benchmarks.methods_cost import recent_peak_mb
from benchmarks.sections import add_write, section
from viewvote import Classifier, ToyEncoder
from viewvote.arrays import Float32, UInt8
from viewvote.cli import main as viewvote
from viewvote.records.record import record_of

DISTINCT = 200  # votes are counted for this many; the file repeats them under other keys
COMMANDS = {
    "`report RUN`": ["report"],
    "`metrics RUN`": ["metrics"],
    "`rescore RUN`": ["rescore"],
    "`rescore RUN --keep 0.1,0.3,0.5 --views 8,16,64`": ["rescore", "--keep", "0.1,0.3,0.5", "--views", "8,16,64"],
    "`rescore RUN --tie all`": ["rescore", "--tie", "all"],
}


class HardPictures(ToyEncoder):
    """An encoder whose views disagree as those of a hard dataset do: a dozen candidates each."""

    def __init__(self, n_classes: int, rng: np.random.Generator) -> None:
        super().__init__(size=8, logit_scale=1.0)
        self.dim = n_classes  # a class is an axis, so that features are logits
        self.rng = rng
        self.show(target=0)

    def show(self, *, target: int) -> None:
        """Make the next views those of a picture of this class."""
        self.mean = np.zeros(self.dim)
        self.mean[target] = self.rng.uniform(2, 5)
        self.candidates = self.rng.choice(self.dim, 8, replace=False)

    def encode_images(self, views: UInt8) -> Float32:
        """Logits (views, classes) drawn at random."""
        logits = self.rng.normal(self.mean, size=(len(views), self.dim)).astype(np.float32)
        logits[np.arange(len(views)), self.rng.choice(self.candidates, len(views))] += 5
        return logits

    def encode_texts(self, texts: Sequence[str]) -> Float32:
        """The axes (texts, classes) that the texts name by number."""
        return np.eye(self.dim, dtype=np.float32)[[int(text) for text in texts]]


def synthetic_lines(n_records: int, n_views: int, n_classes: int, seed: int = 0) -> Iterator[str]:
    """Lines of records: a classifier's answers, repeated under other keys."""
    rng = np.random.default_rng(seed)
    encoder = HardPictures(n_classes, rng)
    names = [str(i) for i in range(n_classes)]
    with tempfile.TemporaryDirectory() as cache:
        classifier = Classifier(
            encoder,
            labels=names,
            method="zero",
            templates=["{}"],
            n_views=n_views,
            evidence=True,
            cache_dir=Path(cache),
        )
    lines = []
    for _ in range(min(DISTINCT, n_records)):
        target = int(rng.integers(n_classes))
        encoder.show(target=target)
        prediction = classifier(rng.integers(0, 256, (8, 8, 3), dtype=np.uint8))
        lines.append(record_of(prediction, key="x", target=target).to_line())
    for i in range(n_records):
        yield lines[i % len(lines)].replace('"key":"x"', f'"key":"{i:06d}.jpg"', 1) + "\n"


def write_run(folder: Path, n_records: int, n_views: int, n_classes: int) -> float:
    """Put the records of a run there; returns their megabytes."""
    (folder / "spec.toml").write_text(f'dataset = "synthetic"\nviews = {n_views}\n')
    with (folder / "records.jsonl").open("w") as stream:
        stream.writelines(synthetic_lines(n_records, n_views, n_classes))
    return (folder / "records.jsonl").stat().st_size / 1e6


def measure(words: Sequence[str]) -> dict[str, float]:
    """Run a command line of viewvote here, and return what this process has taken since it started."""
    sys.argv = ["viewvote", *words]
    with Path(os.devnull).open("w") as nothing, redirect_stdout(nothing):
        try:
            viewvote()
        except SystemExit as end:
            if end.code:
                raise
    return {"cpu": process_time(), "mb": recent_peak_mb()}


def measured(words: Sequence[str]) -> dict[str, float]:
    """What a command line takes in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.rescore", "--only", *words]
    return dict(json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout))


def table(found: Mapping[str, Mapping[str, float]]) -> Iterator[str]:
    """The lines of the table, a command each."""
    yield "| command | processor seconds | peak memory |"
    yield "|---|---:|---:|"
    for name, one in found.items():
        yield f"| {name} | {one['cpu']:.1f} | {one['mb']:.0f} MB |"


def main() -> None:
    if sys.argv[1:2] == ["--only"]:
        print(json.dumps(measure(sys.argv[2:])))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("records", 50_000), ("views", 64), ("classes", 1000)):
        parser.add_argument(f"--n-{name}", type=int, default=default)
    add_records(parser, "rescore")
    add_write(parser)
    args = parser.parse_args()
    place = section("benchmarks.rescore", write=args.write)
    sizes = {"n_records": args.n_records, "n_views": args.n_views, "n_classes": args.n_classes}
    kept = Kept(args.records, sizes, anew=args.anew)
    with tempfile.TemporaryDirectory() as name:
        run = Path(name)

        def megabytes() -> float:
            return round(write_run(run, **sizes), 1)

        size = kept.unit(["megabytes"], megabytes)
        found = {}
        for title, (word, *options) in COMMANDS.items():

            def work(words: Sequence[str] = (word, name, *options)) -> dict[str, float]:
                if not (run / "records.jsonl").exists():  # they were made by a process that was cut off
                    megabytes()
                return measured(words)

            found[title] = kept.unit([title], work)
    made = f"{args.n_records:,} records of {args.n_views} views, {size:.0f} MB"
    place.show([f"{made}. {measured_on(kept)}.", "", *table(found)])


if __name__ == "__main__":
    main()
