"""TPT and RLCF with the pocket model on the views that `benchmarks.compare` has cached, paired against zero-shot.

    python -m benchmarks.compare_tuning --data DIR [--sets ...] [--limit 40] [--cache runs/compare] [--write]

The image features are the cached ones (the torch and ONNX forms agree to 1e-6), so only the text side runs in torch.
RLCF needs a teacher; the pocket model has no stronger sibling here, so it teaches itself.
"""

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.compare import view_features
from benchmarks.sections import add_write, section
from training.eval_sets import SETS, data_folder, load_benchmark
from viewvote import load_encoder
from viewvote.encoders import Encoder
from viewvote.encoders.text_head import build_text_head
from viewvote.methods.base import ViewLogits
from viewvote.methods.baselines import ZeroShot
from viewvote.methods.tuning.episode import Episode, Teacher
from viewvote.methods.tuning.rlcf import Rlcf
from viewvote.methods.tuning.tpt import Tpt
from viewvote.methods.zero import Zero
from viewvote.metrics.paired import mcnemar
from viewvote.rates import wilson_interval

HEADING = "| set | n | zero-shot | zero | tpt | rlcf, 3 steps | seconds per image: tpt, rlcf |"


class SelfTaught:
    """The pocket model as its own teacher: asked about views, it answers with their cached features."""

    def __init__(self, features: NDArray[np.float32]) -> None:
        self.features = features

    def encode_images(self, chosen: NDArray[np.int64]) -> NDArray[np.float32]:
        return self.features[chosen]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=data_folder, required=True)
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=SETS)
    parser.add_argument("--limit", type=int, default=40)
    parser.add_argument("--cache", type=Path, default=Path("runs/compare"))
    add_write(parser)
    args = parser.parse_args()
    place = section("benchmarks.compare_tuning", write=args.write)
    pack, student = load_encoder("pocket"), load_encoder("pocket-torch")
    place.show(measure(args, pack, student))


def measure(args: argparse.Namespace, pack: Encoder, student: Encoder) -> Iterator[str]:
    """The lines of the table, set by set."""
    yield HEADING
    yield "|---" * 7 + "|"
    results = []
    for name in args.sets:
        bench = load_benchmark(args.data, name)
        order = np.random.default_rng(0).permutation(len(bench.paths))
        chosen = sorted(int(i) for i in order[: args.limit])
        features = view_features(pack, bench, chosen, args.cache / pack.vision_fingerprint)
        labels = np.array(bench.labels)[chosen]
        head = build_text_head(pack, bench.classes, templates=["a photo of a {}."])
        right: dict[str, list[bool]] = {"zero-shot": [], "zero": [], "tpt": [], "rlcf": []}
        seconds = {"tpt": 0.0, "rlcf": 0.0}
        for one, label in zip(features, labels, strict=True):
            logits = head.logits(one, pack)
            for plain in (ZeroShot(), Zero()):
                right[plain.name].append(plain.decide(ViewLogits(logits)).index == label)
            teacher = Teacher(SelfTaught(one), head.features, lambda kept: np.array(kept))
            pixels = np.zeros((0, 224, 224, 3), dtype=np.uint8)  # never looked at: only prompts are tuned
            episode = Episode(student, bench.classes, pixels, one, logits, head.features, teacher)
            for method in (Tpt(), Rlcf()):
                start = time.perf_counter()
                right[method.name].append(method.adapt(episode).index == label)
                seconds[method.name] += time.perf_counter() - start
        cells = []
        for method, hits in right.items():
            low, high = wilson_interval(sum(hits), len(hits))
            p = mcnemar(np.array(hits), np.array(right["zero-shot"])).mid_p
            cells.append(f"{100 * np.mean(hits):.1f}{'*' if p < 0.05 else ''} ({100 * low:.1f}-{100 * high:.1f})")
            results.append({"set": name, "method": method, "n": len(hits), "top1": 100 * float(np.mean(hits)), "p": p})
        spent = ", ".join(f"{seconds[m] / len(labels):.2f}" for m in seconds)
        yield f"| {name} | {len(labels)} | {' | '.join(cells)} | {spent} |"
        (args.cache / "tuning.json").write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
