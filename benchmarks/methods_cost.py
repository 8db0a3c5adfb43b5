"""Time and peak memory per image of tuning methods against ZERO, on a ViT-B/16-shaped CLIP with random weights.

    python -m benchmarks.methods_cost [--write] [--methods zero tpt] [--classes 1000] [--views 64] [--rounds 1]

Every method runs in a process of its own, so that its peak resident memory is its own; times are medians over rounds
after one more to warm up (a single one is warmed up by one view), from pixels to the answer, class features already
encoded. Memory is the peak while classifying minus what the process held before (weights, class features, torch
itself). CPU seconds are the steadier measure where other programs run too.

The authors' TPT runs all classes at all 77 positions in one graph; ours cuts prompts at their end and recomputes chunks
of 64 classes, so these ratios are of this package, not of their code ("tpt-one-chunk" is ours without the chunks).
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ARCHITECTURE = "ViT-B-16"
TITLES = {
    "zero-shot": "zero-shot",
    "zero": "zero",
    "tpt": "tpt, 64 classes at a time",
    "tpt-one-chunk": "tpt, all classes at once",
    "tpt-maple": "tpt on MaPLe",
    "promptalign": "promptalign",
    "rlcf-prompt": "rlcf, prompt, teaching itself",
    "rlcf-image": "rlcf, image encoder, teaching itself",
}
SHOWN = ("zero-shot", "zero", "tpt", "tpt-one-chunk", "tpt-maple", "rlcf-image")


def resident_mb() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def forget_peak() -> None:
    """Linux forgets the peak so far: encoding the class features may have needed more than classifying does."""
    Path("/proc/self/clear_refs").write_text("5")


def recent_peak_mb() -> float:
    """The peak since the last `forget_peak`."""
    line = next(row for row in Path("/proc/self/status").read_text().splitlines() if row.startswith("VmHWM"))
    return int(line.split()[1]) * 1024 / 1e6


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

    encoder = build_encoder(name)
    method = build_method(name)
    teacher = encoder if name.startswith("rlcf") else None
    labels = [f"kind {i} of thing" for i in range(classes)]
    with tempfile.TemporaryDirectory() as cache:
        classifier = Classifier(
            encoder, labels=labels, method=method, teacher=teacher, n_views=views, cache_dir=Path(cache)
        )
        plain = Classifier(encoder, labels=labels[:2], method="zero-shot", cache_dir=Path(cache))
    image = np.random.default_rng(0).integers(0, 256, (375, 500, 3), dtype=np.uint8)
    before = resident_mb()
    if rounds == 1:  # which has no other to warm up
        plain(image)
    forget_peak()
    seconds, work = [], []
    for _ in range(rounds + 1 if rounds > 1 else 1):
        start, worked = time.perf_counter(), time.process_time()
        classifier(image)
        seconds.append(time.perf_counter() - start)
        work.append(time.process_time() - worked)
    kept = seconds[1:] or seconds
    return {
        "seconds": statistics.median(kept),
        "fastest": min(kept),
        "slowest": max(kept),
        "cpu": statistics.median(work[1:] or work),
        "above_mb": recent_peak_mb() - before,
    }


def table(found: dict[str, dict[str, float]]) -> Iterator[str]:
    """A line for each method; time and working memory also as multiples of ZERO's."""
    yield "| method | s per image | x zero | processor s | working memory above the weights | x zero |"
    yield "|---|---:|---:|---:|---:|---:|"
    base = found["zero"]
    for name, row in found.items():
        times = f"{row['seconds']:.1f} | {row['seconds'] / base['seconds']:.2g} | {row['cpu']:.1f}"
        memory = f"{row['above_mb']:.0f} MB | {row['above_mb'] / base['above_mb']:.1f}"
        yield f"| {TITLES[name]} | {times} | {memory} |"


def main() -> None:
    from benchmarks.kept import Kept, add_records
    from benchmarks.machine import measured_on
    from benchmarks.sections import add_write, section

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--methods", nargs="+", default=list(SHOWN), choices=TITLES)
    parser.add_argument("--classes", type=int, default=1000)
    parser.add_argument("--views", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--only", help=argparse.SUPPRESS)
    add_records(parser, "methods-cost")
    add_write(parser)
    args = parser.parse_args()
    size = {"classes": args.classes, "views": args.views, "rounds": args.rounds}
    if args.only:
        print(json.dumps(measure(args.only, **size)))
        return
    place = section("benchmarks.methods_cost", write=args.write)
    kept = Kept(args.records, {"model": ARCHITECTURE} | size, anew=args.anew)

    def alone(name: str) -> dict[str, float]:
        words = [f"--{what}={n}" for what, n in size.items()]
        command = [sys.executable, "-m", "benchmarks.methods_cost", "--only", name, *words]
        out = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
        print(f"{name}: {out.splitlines()[-1]}", file=sys.stderr, flush=True)
        return dict(json.loads(out.splitlines()[-1]))

    names = dict.fromkeys(["zero", *args.methods])  # the others are shown against it
    found = {name: kept.unit([name], lambda name=name: alone(name)) for name in names}
    rounds = "one round" if args.rounds == 1 else f"{args.rounds} rounds"
    about = f"{measured_on(kept)}; {args.classes} classes, {args.views} views, {rounds}."
    place.show([about, "", *table({name: found[name] for name in TITLES if name in found})])


if __name__ == "__main__":
    main()
