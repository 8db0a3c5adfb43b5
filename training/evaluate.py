"""The last step: print the table of every evaluation set, zero-shot and ZERO, with n and 95% Wilson intervals.

It uses the package's own views, votes and encoder, through `benchmarks.compare`; features are cached, a run resumes.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from benchmarks.compare import Row, choose, measure, score, view_logits
from training.eval_sets import SETS, Benchmark, data_folder, load_benchmark
from training.photos import Array
from viewvote import LoadOptions, load_encoder
from viewvote.encoders import Encoder
from viewvote.encoders.onnx.encoder import OnnxEncoder
from viewvote.encoders.text_head import build_text_head
from viewvote.methods.baselines import ZeroShot
from viewvote.rates import wilson_interval
from viewvote.views.sample import prepare


def source_features(encoder: Encoder, bench: Benchmark, folder: Path) -> Array:
    """Features (images, dim) of the source views, kept in `folder` as they come."""
    path = folder / f"eval_{bench.name}.npy"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        np.save(path, np.zeros((len(bench.paths), encoder.dim), np.float32))
    stored = np.load(path, mmap_mode="r+")
    for i, image in enumerate(bench.paths):
        if not stored[i].any():
            stored[i] = encoder.encode_images(prepare(image, encoder.image_spec, n_views=1, seed=0).pixels)[0]
    return np.asarray(stored)


def zero_shot(encoder: Encoder, bench: Benchmark, folder: Path) -> Row:
    """Plain zero-shot on the source view of every image."""
    head = build_text_head(encoder, bench.classes, templates=["a photo of a {}."])
    features = source_features(encoder, bench, folder)
    return score(
        bench, list(range(len(features))), "zero-shot", ZeroShot(), view_logits(encoder, head, features[:, None])
    )


def line(row: Row) -> str:
    """One line of the table."""
    low, high = wilson_interval(int(row.right.sum()), len(row.right))
    interval = f"{100 * low:.1f} to {100 * high:.1f}"
    return f"| {row.dataset} | {row.method} | {100 * row.right.mean():.1f} | {interval} | {len(row.right)} |"


def main() -> None:
    """Measure the sets named; with `--zero N` also ZERO on N images of each (0: none, -1: all)."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=data_folder, required=True)
    parser.add_argument("--model", required=True, help="onnx:FOLDER of the pack, or clip-b16")
    parser.add_argument("--sets", nargs="+", default=list(SETS))
    parser.add_argument("--precision", choices=("auto", "fp32", "int8"), default="auto")
    parser.add_argument("--zero", type=int, default=0)
    parser.add_argument("--cache", type=Path, default=Path("runs/evaluate"))
    parser.add_argument("--features", type=Path, help="where this model's source-view features are kept")
    parser.add_argument("--threads", type=int, default=0)
    args = parser.parse_args()
    encoder = load_encoder(args.model, LoadOptions(precision=args.precision, threads=args.threads))
    assert isinstance(encoder, OnnxEncoder)
    cache = args.cache / encoder.vision_fingerprint
    print("| set | method | top-1 % | 95% interval | n |\n|---|---|---|---|---|", flush=True)
    for name in args.sets:
        bench = load_benchmark(args.data, name)
        plain = zero_shot(encoder, bench, args.features or cache)
        print(line(plain), flush=True)
        if name == "imagenet":
            ece = plain.to_dict(plain)["ece_confidence"]
            mean = 100 * plain.confidence.mean()
            print(
                f"| {name} | ECE, 15 bins | {ece:.1f} | mean confidence {mean:.1f} | {len(plain.right)} |", flush=True
            )
        if args.zero:
            for row in measure(encoder, bench, choose(bench, max(args.zero, 0)), cache):
                if row.method in ("zero-shot", "zero, keep 0.3"):
                    print(
                        line(Row(name, f"{row.method}, sampled", row.right, row.confidence, row.probability)),
                        flush=True,
                    )


if __name__ == "__main__":
    main()
