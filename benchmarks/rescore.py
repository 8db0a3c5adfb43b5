"""How long reading, reporting and rescoring many records takes: `python benchmarks/rescore.py [--records N ...]`."""

import argparse
import resource
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter, process_time

import numpy as np

from viewvote.metrics.rescore import Setting, rescore
from viewvote.report.formats.render import render
from viewvote.report.sheet import fill_sheet
from viewvote.report.table import build_table
from viewvote.runs.read import load_run
from viewvote.vote import TIE_RULES

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from record_files import voted_record

DISTINCT = 200  # votes are counted for this many; the file repeats them under other keys
KEEPS = (0.1, 0.3, 0.5)


def synthetic_lines(n_records: int, n_views: int, n_classes: int, seed: int = 0) -> Iterator[str]:
    """Lines of records whose views disagree as those of a hard dataset do: a dozen candidates each."""
    rng = np.random.default_rng(seed)
    lines = []
    for _ in range(min(DISTINCT, n_records)):
        target = int(rng.integers(n_classes))
        logits = rng.normal(size=(n_views, n_classes)).astype(np.float32)
        logits[:, target] += rng.uniform(2, 5)
        logits[np.arange(n_views), rng.choice(rng.choice(n_classes, 8, replace=False), n_views)] += 5
        lines.append(voted_record(logits, key="x", target=target, draw=float(rng.random())).to_line())
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
        timed("report", lambda: render(build_table([run], layout="free"), "markdown"))
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
