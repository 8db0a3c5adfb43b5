"""Step 5: print the table of every evaluation set, zero-shot and ZERO, with n and 95% Wilson intervals.

It uses the package's own views, votes and encoder, through benchmarks/compare.py; features are cached, a run resumes.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from eval_sets import SETS, load_benchmark

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
from compare import Row, measure, wilson

from viewvote import load_encoder
from viewvote.encoders.text_head import encode_classes
from viewvote.methods import METHODS, ViewLogits
from viewvote.samples import prepare


def zero_shot(encoder, bench) -> Row:
    """Plain zero-shot on the source view of every image."""
    text = encode_classes(encoder, bench.classes, templates=["a photo of a {}."])
    decisions = []
    for path in bench.paths:
        pixels = prepare(path, encoder.image_spec, n_views=1, seed=0).pixels
        logits = encoder.logit_scale * encoder.encode_images(pixels) @ text.T
        decisions += METHODS.get("zero-shot")().decide(ViewLogits(logits[None]))
    right = np.array([d.index for d in decisions]) == np.array(bench.labels)
    confidence = np.array([d.confidence for d in decisions])
    return Row(bench.name, "zero-shot", right, confidence, confidence)


def line(row: Row) -> str:
    """One line of the table."""
    low, high = wilson(int(row.right.sum()), len(row.right))
    interval = f"{100 * low:.1f} to {100 * high:.1f}"
    return f"| {row.dataset} | {row.method} | {100 * row.right.mean():.1f} | {interval} | {len(row.right)} |"


def main() -> None:
    """Measure the sets named; with `--zero N` also ZERO on N images of each (0: none, -1: all)."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--pack", type=Path, required=True)
    parser.add_argument("--sets", nargs="+", default=list(SETS))
    parser.add_argument("--zero", type=int, default=0)
    parser.add_argument("--cache", type=Path, default=Path("runs/evaluate"))
    args = parser.parse_args()
    encoder = load_encoder(f"onnx:{args.pack}")
    print("| set | method | top-1 % | 95% interval | n |\n|---|---|---|---|---|", flush=True)
    for name in args.sets:
        bench = load_benchmark(args.data, name)
        plain = zero_shot(encoder, bench)
        print(line(plain), flush=True)
        if name == "imagenet":
            ece = plain.to_dict(plain)["ece_confidence"]
            mean = 100 * plain.confidence.mean()
            print(
                f"| {name} | ECE, 15 bins | {ece:.1f} | mean confidence {mean:.1f} | {len(plain.right)} |", flush=True
            )
        if args.zero:
            order = np.random.default_rng(0).permutation(len(bench.paths))
            chosen = sorted(int(i) for i in order[: args.zero if args.zero > 0 else None])
            for row in measure(encoder, bench, chosen, args.cache / encoder.fingerprint):
                if row.method in ("zero-shot", "zero, keep 0.3"):
                    print(
                        line(Row(name, f"{row.method}, sampled", row.right, row.confidence, row.probability)),
                        flush=True,
                    )


if __name__ == "__main__":
    main()
