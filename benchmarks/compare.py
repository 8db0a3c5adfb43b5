"""Every training-free method on the same views of real photographs: accuracy with intervals, paired against zero-shot.

    python -m benchmarks.compare --data DIR [--model pocket] [--sets ...] [--limit N] [--cache runs/compare]
                                 [--write]

DIR holds eval/SET/LABEL_NAME/*.jpg and metadata/ as training/README.md describes. Features of all views are computed
once per image and kept in --cache, so an interrupted run goes on where it stopped and another method costs nothing.
"""

import argparse
import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.sections import add_write, section
from training.eval_sets import SETS, Benchmark, data_folder, load_benchmark
from viewvote import load_encoder
from viewvote.classify.calibration import probability_fit
from viewvote.classify.likelihood import likelihood_of
from viewvote.classify.prefetch import prepare_ahead
from viewvote.encoders import Encoder
from viewvote.encoders.text_head import TextHead, build_text_head
from viewvote.labels.templates import resolve_templates
from viewvote.methods import METHODS, ViewLogits
from viewvote.methods.base import TrainingFreeMethod
from viewvote.methods.zero import Zero
from viewvote.metrics.calibration import reliability
from viewvote.metrics.paired import mcnemar
from viewvote.rates import wilson_interval
from viewvote.views.sample import Keyed, Sample, prepare

VIEWS = 64
METHODS_SHOWN = {
    "zero-shot": ("photo", METHODS.get("zero-shot")()),
    "ensemble": ("ensemble", METHODS.get("zero-shot")()),
    "marginal": ("photo", METHODS.get("marginal")()),
    "mean-logits": ("photo", METHODS.get("mean-logits")()),
    "mta": ("photo", METHODS.get("mta")()),
    "zero, keep 0.1": ("photo", Zero(keep=0.1)),
    "zero, keep 0.3": ("photo", Zero()),
    "zero+ensemble": ("ensemble", Zero()),
}


@dataclass(frozen=True)
class Row:
    """One method on one set, image by image."""

    dataset: str
    method: str
    right: NDArray[np.bool_]
    confidence: NDArray[np.float64]
    probability: NDArray[np.float64]

    def to_dict(self, plain: "Row") -> dict[str, object]:
        n, hits = len(self.right), int(self.right.sum())
        low, high = wilson_interval(hits, n)
        return {
            "set": self.dataset,
            "method": self.method,
            "n": n,
            "top1": 100 * hits / n,
            "low": 100 * low,
            "high": 100 * high,
            "p_vs_zero_shot": mcnemar(self.right, plain.right).mid_p,
            "ece_confidence": 100 * reliability(self.confidence, self.right, bins=15).ece,
            "ece_probability": 100 * reliability(self.probability, self.right, bins=15).ece,
        }


def order_of(bench: Benchmark) -> list[int]:
    """The images in a fixed random order, of which any first part is a fair sample."""
    return [int(i) for i in np.random.default_rng(0).permutation(len(bench.paths))]


def choose(bench: Benchmark, limit: int) -> list[int]:
    """A fixed random sample of `limit` images, 0 for all; a larger one holds the smaller."""
    return sorted(order_of(bench)[: limit or None])


def view_features(encoder: Encoder, bench: Benchmark, chosen: list[int], cache: Path) -> NDArray[np.float32]:
    """Features (images, views, dim) of the chosen images, computed where the cache has none."""
    path = cache / f"{bench.name}.npy"
    path.parent.mkdir(parents=True, exist_ok=True)
    shape = (len(bench.paths), VIEWS, encoder.dim)
    if not path.exists():
        np.lib.format.open_memmap(path, "w+", np.float32, shape).flush()
    stored = np.load(path, mmap_mode="r+")
    todo = [i for i in chosen if not stored[i].any()]

    def one(keyed: Keyed) -> Sample:
        key, dataset = keyed.key, keyed.dataset
        return prepare(keyed.image, encoder.image_spec, n_views=VIEWS, seed=0, dataset=dataset, key=key)

    paths = [bench.paths[i] for i in todo]
    images = [Keyed(path, f"{path.parent.name}/{path.name}", bench.name) for path in paths]
    for done, (i, sample) in enumerate(zip(todo, prepare_ahead(one, images, ahead=4), strict=True), start=1):
        stored[i] = encoder.encode_images(sample.pixels)
        if done % 50 == 0 or 1 < done == len(todo):
            print(f"{bench.name}: {done} of {len(todo)} images encoded", file=sys.stderr, flush=True)
    return np.asarray(stored[chosen])


def measure(encoder: Encoder, bench: Benchmark, chosen: list[int], cache: Path) -> list[Row]:
    features = view_features(encoder, bench, chosen, cache)
    heads = {
        name: build_text_head(encoder, bench.classes, templates=resolve_templates(name))
        for name in ("photo", "ensemble")
    }
    return [
        score(encoder, bench, chosen, title, method, view_logits(encoder, heads[templates], features))
        for title, (templates, method) in METHODS_SHOWN.items()
    ]


def view_logits(encoder: Encoder, head: TextHead, features: NDArray[np.float32]) -> Iterator[ViewLogits]:
    """What a method decides on, one image (views, dim) at a time."""
    for one in features:
        logits = head.logits(one, encoder)
        scale, bias = encoder.logit_scale, encoder.logit_bias
        yield ViewLogits(logits, scale, bias, features=one, text=head.features)


def score(
    encoder: Encoder,
    bench: Benchmark,
    chosen: list[int],
    title: str,
    method: TrainingFreeMethod,
    views: Iterable[ViewLogits],
) -> Row:
    seen = list(views)
    decisions = [method.decide(one) for one in seen]
    fit = probability_fit(encoder, method, None)
    return Row(
        bench.name,
        title,
        np.array([d.index for d in decisions]) == np.array(bench.labels)[chosen],
        np.array([d.confidence for d in decisions]),
        np.array([likelihood_of(d, one, fit=fit)[0] for d, one in zip(decisions, seen, strict=True)]),
    )


def table(results: Iterable[dict[str, object]], titles: Iterable[str] = METHODS_SHOWN) -> str:
    columns = list(titles)
    lines = ["| set | n | " + " | ".join(columns) + " |", "|---" * (len(columns) + 2) + "|"]
    by_set: dict[object, dict[object, dict[str, object]]] = {}
    for result in results:
        by_set.setdefault(result["set"], {})[result["method"]] = result
    for name, methods in by_set.items():
        cells = []
        for method in columns:
            r = methods[method]
            mark = "*" if float(str(r["p_vs_zero_shot"])) < 0.05 else ""
            cells.append(f"{r['top1']:.1f}{mark} ({r['low']:.1f}-{r['high']:.1f})")
        lines.append(f"| {name} | {methods['zero-shot']['n']} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=data_folder, required=True)
    parser.add_argument("--model", default="pocket")
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=SETS)
    parser.add_argument("--limit", type=int, default=0, help="a fixed random sample of this many images a set; 0: all")
    parser.add_argument("--cache", type=Path, default=Path("runs/compare"))
    add_write(parser)
    args = parser.parse_args()
    place = section("benchmarks.compare", args.model, write=args.write)
    encoder = load_encoder(args.model)
    cache = args.cache / getattr(
        encoder, "vision_fingerprint", encoder.fingerprint
    )  # views have nothing to do with texts
    results: list[dict[str, object]] = []
    for name in args.sets:
        bench = load_benchmark(args.data, name)
        chosen = choose(bench, args.limit)
        rows = measure(encoder, bench, chosen, cache)
        results += [row.to_dict(rows[0]) for row in rows]
        (args.cache / "results.json").write_text(json.dumps(results, indent=1))
    place.show(table(results).splitlines())
    print("* differs from zero-shot on the same images (McNemar's mid-p < 0.05, not corrected for many tests)")


if __name__ == "__main__":
    main()
