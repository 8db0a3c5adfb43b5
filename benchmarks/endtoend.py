"""JPEG bytes to answer: every way viewvote can run against the authors' way, in one run, as ratios.

    python -m benchmarks.endtoend [--quick] [--data DIR] [--limit 1000] [--rounds 5] [--models vit pocket] [--write]
                                  [--answers-of JSON]

Every mode lives in a process of its own (its peak memory is its own) and sleeps until it is asked; in each round every
mode classifies every photo once, in a new order, so a busy moment of the machine hits all alike. Ratios are of the same
photo in the same round: medians and quartiles of reference seconds / mode seconds. Run it on a quiet machine: threads
of eager torch wait for each other after every layer, so that other programs slow the reference more than our modes;
and they wait by spinning, so that CPU seconds, given beside, do not correct for it.

ViT-B/16 has random weights: they cost the same and mean nothing. How many views adaptive and exact stopping look at is
therefore taken from the embedded model on the photos of --data, and their cost from that of fixed numbers of views. So
is the embedded model's own for single photos, for the shipped ones are easy; its stream is of real ones and measured.
What the modes answer needs no quiet machine: `--models` with no name finds that out alone, and --answers-of takes it
from the endtoend.json of such a run. --write puts tables and plot into docs.
"""

import argparse
import io
import json
import os
import platform
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from benchmarks.accuracy import MODES, judge, load_photos
from benchmarks.cost_plot import draw_plot
from benchmarks.modes import Mode, Worker
from benchmarks.tables import STOPPING, to_markdown, write_section
from training.eval_sets import data_folder
from viewvote.encoders.text_head import default_cache_dir
from viewvote.files import example_photos

DOCS = Path(__file__).parents[1] / "docs"
LABELS = tuple(f"thing number {i}" for i in range(1000))
SIZES = {"600 x 400": (600, 400), "1200 x 800": (1200, 800), "12 megapixels": (4242, 2828)}
FEWER = {"fp32": (32,), "int8": (1, 2, 4, 8, 16, 32)}  # views, besides 64, whose cost is measured
STOPPING_MODES = tuple(mode for mode in MODES if mode.name in STOPPING)
CURVE = (1, 2, 4)  # and these, for the plot of the embedded model


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one round, few photos: to see that it runs")
    parser.add_argument("--models", nargs="*", default=["vit", "pocket"], help="vit, pocket, or nothing")
    parser.add_argument("--data", type=data_folder, help="folder with eval/imagenet, eval/pacs_sketch and metadata")
    parser.add_argument("--limit", type=int, default=1000, help="photos of each set of --data")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--answers-of", type=Path, metavar="JSON", help="take the answers from an earlier run's results"
    )
    parser.add_argument("--stream", type=int, default=12, help="photos of the stream; four times as many for pocket")
    parser.add_argument("--packs", type=Path, default=default_cache_dir() / "bench", help="keeps the ViT and results")
    parser.add_argument("--write", action="store_true", help="write docs/performance.md and its plot")
    args = parser.parse_args()
    if unknown := set(args.models) - {"vit", "pocket"}:
        parser.error(f"--models knows vit and pocket, not {', '.join(sorted(unknown))}")
    if args.quick:
        args.rounds, args.limit, args.stream = 1, min(args.limit, 8), 3
    args.packs.mkdir(parents=True, exist_ok=True)
    results: dict[str, Any] = {"machine": describe_machine(), "rounds": args.rounds}
    if args.answers_of:
        results["quality"] = json.loads(args.answers_of.read_text())["quality"]
    else:
        results["quality"] = judge(args.data, limit=args.limit) if args.data else []
    photos = resized_photos(list(SIZES)[:1] if args.quick else list(SIZES))
    for model in args.models:
        stream, labels = list(photos.values()), LABELS
        if args.data:
            limit = args.stream * (4 if model == "pocket" else 1)
            stream, _, labels = load_photos(args.data, "imagenet", limit=limit)
        modes = modes_of(model, args.packs, results)
        any_texts = model == "vit" or not args.data
        results[model] = measure(modes, photos, stream, rounds=args.rounds, labels=labels, any_texts=any_texts)
    if args.models:
        results["labels"] = measure_labels(next(iter(photos.values())), rounds=max(5, args.rounds))
    results["load at the end"] = os.getloadavg()[0]
    (args.packs / "endtoend.json").write_text(json.dumps(results, indent=1))
    print(to_markdown(results))
    if args.write:
        write_section(DOCS / "performance.md", to_markdown(results))
        draw_plot(results, DOCS / "images" / "cost-accuracy.svg")


def describe_machine() -> str:
    """The processor, whether it multiplies int8 by VNNI, its cores, and how busy it is."""
    info = Path("/proc/cpuinfo")
    facts = dict(line.split(":", 1) for line in info.read_text().splitlines() if ":" in line) if info.exists() else {}
    told = {name.strip(): fact.strip() for name, fact in facts.items()}
    vnni = "VNNI" if {"avx512_vnni", "avx_vnni"} & set(told.get("flags", "").split()) else "no VNNI"
    name = f"{told.get('model name', platform.machine())} ({vnni})"
    return f"{name}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the start"


def resized_photos(sizes: Sequence[str]) -> dict[str, bytes]:
    """A shipped photograph as JPEG bytes at each size; the larger ones are enlarged, for decoding costs the same."""
    photo = Image.open(next(path for path in example_photos() if path.stem == "coffee"))
    out = {}
    for name in sizes:
        encoded = io.BytesIO()
        photo.resize(SIZES[name], Image.Resampling.LANCZOS).save(encoded, "JPEG", quality=90)
        out[name] = encoded.getvalue()
    return out


def modes_of(model: str, packs: Path, results: dict[str, Any]) -> list[Mode]:
    """The modes of one model, the reference first."""
    torch_model, pack = ("pocket-torch", "pocket") if model == "pocket" else export_vit(packs, results)
    modes = [Mode("reference", torch_model, reference=True), Mode("torch", torch_model)]
    for precision, fewer in FEWER.items():
        views = (64, *fewer, *(CURVE if model == "pocket" else ()), *((8, 16) if model == "pocket" else ()))
        names = {n: precision if n == 64 else f"{precision}, {n} views" for n in sorted(set(views))}
        modes += [Mode(name, pack, precision=precision, n_views=n) for n, name in names.items()]
    return [*modes, *STOPPING_MODES] if model == "pocket" else modes


def export_vit(packs: Path, results: dict[str, Any]) -> tuple[str, str]:
    """The ids of a ViT-B/16 with random weights in torch and as a pack, made by `viewvote export` if need be."""
    weights, pack = packs / "vit-b-16.safetensors", packs / "vit-b-16"
    torch_model = f"open_clip:ViT-B-16/{weights}"
    if not pack.exists():
        import open_clip
        import torch
        from safetensors.torch import save_file

        torch.manual_seed(0)
        state = open_clip.create_model("ViT-B-16", pretrained=None).state_dict()
        save_file({name: tensor.contiguous() for name, tensor in state.items()}, weights)
        start = time.perf_counter()
        command = [sys.executable, "-m", "viewvote", "export", torch_model, "--out", str(pack), "--int8"]
        said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        agreement = "; ".join(line for line in said.splitlines() if line.startswith(("fp32", "int8")))
        results["export"] = f"{time.perf_counter() - start:.0f} s; {agreement}"
    return torch_model, f"onnx:{pack}"


def measure(
    modes: list[Mode],
    photos: dict[str, bytes],
    stream: list[bytes],
    *,
    rounds: int,
    labels: Sequence[str],
    any_texts: bool,
) -> dict[str, Any]:
    """Per mode: seconds (all, CPU, reading, drawing) of every photo and round, of the stream, and peak megabytes."""
    with tempfile.TemporaryDirectory() as cache:
        os.environ["VIEWVOTE_CACHE"] = cache  # random class embeddings must not stay
        workers = [Worker(mode, labels, any_texts=any_texts) for mode in modes]
        alone = [worker for worker in workers if worker.mode not in STOPPING_MODES]
        single: dict[str, list[Any]] = {mode.name: [] for mode in modes}
        streamed: dict[str, list[Any]] = {mode.name: [] for mode in modes}
        for worker in workers:
            worker.one(next(iter(photos.values())))  # warm up
        for number in range(rounds):
            for photo, data in photos.items():
                for worker in random.Random(number).sample(alone, len(alone)):
                    run = worker.one(data)
                    (answer,) = run.answers
                    spent = [run.seconds, run.cpu, answer.read, answer.render]
                    single[worker.mode.name].append([photo, number, *spent])
            print(f"round {number + 1} of {rounds}", file=sys.stderr, flush=True)
        for number in range(min(rounds, 3)):
            for worker in random.Random(number).sample(workers, len(workers)):
                if worker.mode.n_views == 64 or worker.mode in STOPPING_MODES:
                    run = worker.many(stream)
                    streamed[worker.mode.name].append([number, run.seconds / len(stream), run.cpu / len(stream)])
            print(f"stream {number + 1} of {min(rounds, 3)}", file=sys.stderr, flush=True)
        peaks = {worker.mode.name: worker.peak() for worker in workers}
        for worker in workers:
            worker.close()
        del os.environ["VIEWVOTE_CACHE"]
    return {"single": single, "stream": streamed, "peak": peaks, "streamed photos": len(stream)}


def measure_labels(photo: bytes, *, rounds: int) -> dict[str, list[list[float]]]:
    """Seconds of one photo with 10, 1000 and 10,000 labels whose embeddings are already there."""
    with tempfile.TemporaryDirectory() as cache:
        os.environ["VIEWVOTE_CACHE"] = cache
        counts = {str(n): [f"thing number {i}" for i in range(n)] for n in (10, 1000, 10_000)}
        workers = {n: Worker(Mode(n, "pocket"), labels, any_texts=True) for n, labels in counts.items()}
        taken: dict[str, list[list[float]]] = {n: [] for n in workers}
        for worker in workers.values():
            worker.one(photo)
        for number in range(rounds):
            for n in random.Random(number).sample(list(workers), len(workers)):
                run = workers[n].one(photo)
                taken[n].append([run.seconds, run.cpu])
        for worker in workers.values():
            worker.close()
        del os.environ["VIEWVOTE_CACHE"]
    return {n: np.array(runs).T.tolist() for n, runs in taken.items()}


if __name__ == "__main__":
    main()
