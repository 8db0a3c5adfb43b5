"""How long reading, reporting and rescoring many records takes: `python -m benchmarks.rescore [--records N ...]`."""

import argparse
import resource
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import perf_counter, process_time

import numpy as np

from viewvote import Classifier, ToyEncoder
from viewvote.arrays import Float32, UInt8
from viewvote.metrics.rescore import Setting, rescore
from viewvote.records.record import record_of
from viewvote.report.formats.render import render
from viewvote.report.layouts import find_layout
from viewvote.report.sheet import fill_sheet
from viewvote.report.table import build_table
from viewvote.runs.read import load_run
from viewvote.vote import TIE_RULES

DISTINCT = 200  # votes are counted for this many; the file repeats them under other keys
KEEPS = (0.1, 0.3, 0.5)


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
            encoder, labels=names, templates=["{}"], n_views=n_views, evidence=True, cache_dir=Path(cache)
        )
    lines = []
    for _ in range(min(DISTINCT, n_records)):
        target = int(rng.integers(n_classes))
        encoder.show(target=target)
        prediction = classifier(rng.integers(0, 256, (8, 8, 3), dtype=np.uint8))
        lines.append(record_of(prediction, key="x", target=target).to_line())
    for i in range(n_records):
        yield lines[i % len(lines)].replace('"key":"x"', f'"key":"{i:06d}.jpg"', 1) + "\n"


def timed(name: str, call: Callable[[], object]) -> None:
    start, cpu = perf_counter(), process_time()
    call()
    print(f"{name:24}{perf_counter() - start:7.2f} s wall {process_time() - cpu:7.2f} s CPU")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=50_000)
    parser.add_argument("--views", type=int, default=64)
    parser.add_argument("--classes", type=int, default=1000)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "records.jsonl"
        path.with_name("spec.toml").write_text('dataset = "synthetic"\n')
        with path.open("w") as stream:
            stream.writelines(synthetic_lines(chosen.records, chosen.views, chosen.classes))
        print(f"{chosen.records} records x {chosen.views} views: {path.stat().st_size / 1e6:.0f} MB")
        run = load_run(path.parent)
        timed("report", lambda: render(build_table([run], layout=find_layout("free")), "markdown"))
        timed("metrics", lambda: str(fill_sheet(run)))
        timed("rescore, 1 setting", lambda: rescore(path, [Setting(chosen.views)]))
        timed(
            "rescore, 9 settings", lambda: rescore(path, [Setting(n, k) for n in (8, 16, chosen.views) for k in KEEPS])
        )
        rules = [Setting(chosen.views, tie=rule) for rule in TIE_RULES]
        timed("rescore, 7 tie rules", lambda: rescore(path, rules))
    print(f"{'peak memory':24}{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:7.0f} MB")


if __name__ == "__main__":
    main()
