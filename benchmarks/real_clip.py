"""The methods on OpenAI's own CLIP ViT-B/16 image features, and pocket -> clip-b16 cascades, paired against zero-shot.

    python benchmarks/real_clip.py --data DIR [--sets ...] [--limit 200] [--threads 1] [--cache runs/real-clip]

DIR is laid out as training/README.md describes. The features of all 64 views are kept in --cache as they come, under a
name that depends on the image tower alone: an interrupted run goes on where it stopped, and a better text head, or
another method, costs seconds. --encode-only fills the cache and prints nothing.
"""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from compare import METHODS_SHOWN, choose, measure, score, table, view_features, view_logits
from eval_sets import SETS, Benchmark, load_benchmark
from numpy.typing import NDArray

from viewvote import LoadOptions, load_encoder
from viewvote.encoders.onnx_pack import OnnxEncoder
from viewvote.encoders.text_head import build_text_head
from viewvote.methods import ViewLogits
from viewvote.methods.zero import Zero
from viewvote.prompts import resolve_templates
from viewvote.types import Int64

MEASURED = ("imagenet", "oxford_pets", "caltech101", "eurosat", *(name for name in SETS if name.startswith("pacs")))
CASCADES = {f"pocket, clip-b16 votes, keep {keep}": Zero(keep=keep) for keep in (0.1, 0.3)}


def load(model: str, threads: int) -> OnnxEncoder:
    encoder = load_encoder(model, LoadOptions(threads=threads))
    assert isinstance(encoder, OnnxEncoder)
    return encoder


def cascade(student: OnnxEncoder, teacher: OnnxEncoder, bench: Benchmark, chosen: list[int], cache: Path) -> Iterator:
    """The student's logits of each image, with the teacher ready for the views that are kept."""
    templates = resolve_templates("photo")
    heads = [build_text_head(encoder, bench.classes, templates=templates) for encoder in (student, teacher)]
    seen, known = (view_features(e, bench, chosen, cache / e.vision_fingerprint) for e in (student, teacher))
    for one, answers in zip(seen, known, strict=True):
        logits = heads[1].logits(answers, teacher)

        def ask(kept: Int64, logits: NDArray[np.float32] = logits) -> NDArray[np.float32]:
            return logits[kept[0]][None]

        views = next(view_logits(student, heads[0], one[None]))
        yield ViewLogits(views.logits, views.logit_scale, views.logit_bias, teacher=ask)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sets", nargs="+", default=list(MEASURED), choices=SETS)
    parser.add_argument("--limit", type=int, default=200, help="a fixed random sample of this many images; 0: all")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--cache", type=Path, default=Path("runs/real-clip"))
    parser.add_argument("--encode-only", action="store_true")
    args = parser.parse_args()
    clip, pocket = load("clip-b16", args.threads), load("pocket", args.threads)
    results: list[dict[str, object]] = []
    for name in args.sets:
        bench = load_benchmark(args.data, name)
        chosen = choose(bench, args.limit)
        if args.encode_only:
            for encoder in (pocket, clip):
                view_features(encoder, bench, chosen, args.cache / encoder.vision_fingerprint)
            continue
        rows = measure(clip, bench, chosen, args.cache / clip.vision_fingerprint)
        for title, method in CASCADES.items():
            rows.append(score(bench, chosen, title, method, cascade(pocket, clip, bench, chosen, args.cache)))
        results += [row.to_dict(rows[0]) for row in rows]
        (args.cache / "results.json").write_text(json.dumps(results, indent=1))
    if results:
        print(table(results, [*METHODS_SHOWN, *CASCADES]))
        print("* differs from zero-shot on the same images (exact McNemar, p < 0.05, not corrected for many tests)")


if __name__ == "__main__":
    main()
