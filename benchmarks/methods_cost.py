"""Time and peak memory per image of tuning methods against ZERO, on a ViT-B/16-shaped CLIP with random weights.

    python -m benchmarks.methods_cost [--methods zero tpt rlcf-image] [--classes 1000] [--views 64] [--rounds 3]

Every method runs in a process of its own, so that its peak resident memory is its own; times are medians over rounds
after one more to warm up (none for a single round), views already drawn, class features already encoded. Memory is the
peak while classifying minus what the process held before (weights, class features, torch itself), and the whole peak
(ru_maxrss) beside it. CPU seconds are the steadier measure where other programs run too.

The authors' TPT runs all classes at all 77 positions in one graph; ours cuts prompts at their end and recomputes chunks
of 64 classes, so these ratios are of this package, not of their code ("tpt-one-chunk" is ours without the chunks).
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ARCHITECTURE = "ViT-B-16"


def resident_mb() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def forget_peak() -> None:
    """Linux forgets the peak so far: encoding the class features may have needed more than classifying does."""
    Path("/proc/self/clear_refs").write_text("5")


def recent_peak_mb() -> float:
    """The peak since the last `forget_peak`."""
    line = next(row for row in Path("/proc/self/status").read_text().splitlines() if row.startswith("VmHWM"))
    return int(line.split()[1]) * 1024 / 1e6


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


def build_encoder(name: str) -> Any:
    """The plain model with random weights, or MaPLe's prompts on it; no file is written or read."""
    import open_clip
    import torch

    from viewvote.encoders import LoadOptions
    from viewvote.encoders.torch.open_clip import DeepPromptedOpenClip

    torch.manual_seed(0)
    model = open_clip.create_model(ARCHITECTURE)
    tokenizer = open_clip.get_tokenizer(ARCHITECTURE)
    options = LoadOptions(device="cpu")
    plain = DeepPromptedOpenClip(model, tokenizer, dim=512, model_id=f"random:{ARCHITECTURE}", options=options)
    if name not in {"tpt-maple", "promptalign"}:
        return plain
    import numpy as np

    from viewvote.encoders.checkpoints.prompts import MaPLePrompts
    from viewvote.encoders.torch.maple import MaPLeEncoder

    rng = np.random.default_rng(0)
    shapes = {"ctx": (2, 512), "proj.weight": (768, 512), "proj.bias": (768,)}
    for i in range(2):
        shapes[f"compound_prompts_text.{i}"] = (2, 512)
        shapes[f"compound_prompt_projections.{i}.weight"] = (768, 512)
        shapes[f"compound_prompt_projections.{i}.bias"] = (768,)
    values = {key: (0.02 * rng.normal(size=shape)).astype(np.float32) for key, shape in shapes.items()}
    return MaPLeEncoder(plain, MaPLePrompts(values, n_ctx=2, depth=3), model_id="maple:random")


def build_method(name: str) -> Any:
    import numpy as np

    from viewvote.methods import METHODS
    from viewvote.methods.tuning.tpt import Tpt

    if name == "promptalign":
        from viewvote.methods.tuning.promptalign import PromptAlign
        from viewvote.methods.tuning.token_statistics import TokenStatistics

        nothing = np.zeros((12, 199, 768), dtype=np.float32)
        return PromptAlign(TokenStatistics(nothing, nothing))
    if name.startswith("rlcf"):
        from viewvote.methods.tuning.rlcf import Rlcf

        return Rlcf(tune="image" if name == "rlcf-image" else "prompt")
    if name == "tpt-one-chunk":  # as its authors' code: all classes in one graph
        return Tpt(chunk=10**6)
    return METHODS.get(name.removesuffix("-maple"))()


def measure(name: str, *, classes: int, views: int, rounds: int) -> dict[str, float]:
    """Seconds and megabytes of one method, in this process."""
    import numpy as np

    from viewvote import Classifier
    from viewvote.classify.scheduler import encode_units
    from viewvote.classify.stream import answers_of

    encoder = build_encoder(name)
    method = build_method(name)
    teacher = encoder if name.startswith("rlcf") else None
    labels = [f"kind {i} of thing" for i in range(classes)]
    with tempfile.TemporaryDirectory() as cache:
        classifier = Classifier(
            encoder, labels=labels, method=method, teacher=teacher, n_views=views, cache_dir=Path(cache)
        )
    image = np.random.default_rng(0).integers(0, 256, (375, 500, 3), dtype=np.uint8)
    sample = classifier.prepare(image)
    whole = peak_mb()
    forget_peak()
    before = resident_mb()
    seconds, work = [], []
    for _ in range(rounds + 1 if rounds > 1 else 1):
        start, worked = time.perf_counter(), time.process_time()
        list(answers_of(classifier, [sample], batch_views=views, encode=encode_units(encoder)))
        seconds.append(time.perf_counter() - start)
        work.append(time.process_time() - worked)
    kept = seconds[1:] or seconds
    return {
        "seconds": statistics.median(kept),
        "fastest": min(kept),
        "slowest": max(kept),
        "cpu": statistics.median(work[1:] or work),
        "above_mb": recent_peak_mb() - before,
        "peak_mb": max(whole, peak_mb()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--methods", nargs="+", default=["zero-shot", "zero", "tpt", "tpt-one-chunk", "rlcf-image"])
    parser.add_argument("--classes", type=int, default=1000)
    parser.add_argument("--views", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.only:
        print(json.dumps(measure(args.only, classes=args.classes, views=args.views, rounds=args.rounds)))
        return
    size = [f"--classes={args.classes}", f"--views={args.views}", f"--rounds={args.rounds}"]
    found: dict[str, dict[str, float]] = {}
    print(f"{ARCHITECTURE}, random weights, {args.classes} classes, {args.views} views, {args.rounds} rounds, CPU")
    heads = f"{'method':<14} {'s/image':>8} {'range':>15} {'x zero':>7} {'CPU s':>7} {'x zero':>7}"
    print(f"{heads} {'peak MB':>8} {'above MB':>9} {'x zero':>7}")
    for name in sorted(args.methods, key=lambda name: name != "zero"):  # zero first: the others are shown against it
        command = [sys.executable, "-m", "benchmarks.methods_cost", "--only", name, *size]
        out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        found[name] = row = json.loads(out.splitlines()[-1])
        base = found.get("zero", row)
        spread = f"{row['fastest']:.2f}-{row['slowest']:.2f}"
        print(
            f"{name:<14} {row['seconds']:>8.2f} {spread:>15} {row['seconds'] / base['seconds']:>7.2f} "
            f"{row['cpu']:>7.1f} {row['cpu'] / base['cpu']:>7.2f} "
            f"{row['peak_mb']:>8.0f} {row['above_mb']:>9.0f} {row['above_mb'] / base['above_mb']:>7.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
