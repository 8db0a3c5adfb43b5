"""JPEG bytes to answer: every way viewvote can run against the authors' way, in one run, as ratios.

    python -m benchmarks.endtoend [--quick] [--data DIR] [--limit 1000] [--rounds 3] [--models vit pocket] [--write]
                                  [--anew]

The authors' way is measured twice: as it runs, and told to keep the memory that it frees (`benchmarks.modes`). Modes of
one model and precision share a process, which sleeps until it is asked; peak memory is a process's own. In each round
every mode classifies every photo once, in a new order, so a busy moment of the machine hits all alike. Ratios are of
the same photo in the same round: medians and quartiles of reference seconds / mode seconds. Run it on a quiet machine:
threads of eager torch wait for each other after every layer, so that other programs slow the reference more than our
modes; and they wait by spinning, so that CPU seconds, given beside, do not correct for it.

ViT-B/16 has random weights: they cost the same and mean nothing. How many views its stopping rules look at is therefore
taken from the embedded model on the photos of --data, and their cost from rounds of views that are made to end after so
many. So is the embedded model's own for single photos, for the shipped ones are easy; its stream is of real ones.

What is measured is kept in --packs as it comes, so a run that was cut off goes on where it ended; --anew starts over.
What the modes answer needs no quiet machine: `--models` with no name finds that out alone, for a later run to read.
--write puts tables and plot into docs.
"""

import argparse
import io
import json
import os
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

from benchmarks.accuracy import MODES, choose_photos, judge
from benchmarks.cost_plot import draw_plot
from benchmarks.kept import Kept
from benchmarks.machine import describe_machine
from benchmarks.modes import Mode, Worker
from benchmarks.sections import DOCS, add_write, section
from benchmarks.tables import KEPT_MEMORY, REFERENCE, STOPPING, fixed_name, rounds_name, to_markdown
from training.eval_sets import data_folder
from viewvote.encoders.text_head import default_cache_dir
from viewvote.files import example_photos

LABELS = tuple(f"thing number {i}" for i in range(1000))
SIZES = {"600 x 400": (600, 400), "1200 x 800": (1200, 800), "12 megapixels": (4242, 2828)}
FIXED = {"fp32": (32,), "int8": ()}  # views, besides 64, whose cost is measured
CURVE = {"fp32": (1, 2, 4, 8, 16, 32), "int8": (1, 2, 4, 8, 16, 32)}  # and of the embedded model, for the plot
ROUNDS = (1, 2, 3, 4, 6, 8, 16, 32)  # views after which rounds are made to end
STREAMS = 2  # times that every mode runs through the stream


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one round, few photos: to see that it runs")
    parser.add_argument("--models", nargs="*", default=["vit", "pocket"], help="vit, pocket, or nothing")
    parser.add_argument("--data", type=data_folder, help="folder with eval/imagenet, eval/pacs_sketch and metadata")
    parser.add_argument("--limit", type=int, default=1000, help="photos of each set of --data")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--stream", type=int, default=2, help="photos of the stream; eight times as many for pocket")
    parser.add_argument("--packs", type=Path, default=default_cache_dir() / "bench", help="keeps the ViT and results")
    parser.add_argument("--anew", action="store_true", help="measure what was measured before once more")
    add_write(parser)
    args = parser.parse_args()
    if unknown := set(args.models) - {"vit", "pocket"}:
        parser.error(f"--models knows vit and pocket, not {', '.join(sorted(unknown))}")
    if args.write and (args.quick or not args.data or len(args.models) < 2):
        parser.error("--write needs --data and both models, and not --quick: the page has all tables.")
    place = section("benchmarks.endtoend", write=args.write)
    if args.quick:
        args.rounds, args.limit, args.stream = 1, min(args.limit, 8), 1
    work = args.packs / ("quick" if args.quick else "all")
    work.mkdir(parents=True, exist_ok=True)
    results: dict[str, Any] = {"machine": describe_machine(), "rounds": args.rounds}
    facts = results | {"stream": args.stream}
    quality = Kept(work / "answers.jsonl", {"limit": args.limit})
    results["quality"] = judge(args.data, limit=args.limit, folder=work, kept=quality) if args.data else []
    kept = Kept(work / "seconds.jsonl", facts, anew=args.anew)
    photos = resized_photos(list(SIZES)[:1] if args.quick else list(SIZES))
    for model in args.models:
        stream, labels = list(photos.values()), LABELS
        if args.data:
            limit = args.stream * (8 if model == "pocket" and not args.quick else 1)
            paths, _, labels = choose_photos(args.data, "imagenet", limit=limit)
            stream = [path.read_bytes() for path in paths]
        groups = groups_of(model, args.packs, results)
        any_texts = model == "vit" or not args.data
        measured = Measured(model, kept, labels, any_texts=any_texts)
        results[model] = measured.all(groups, photos, stream, rounds=args.rounds)
    if args.models:
        results["labels"] = measure_labels(next(iter(photos.values())), kept, rounds=max(5, args.rounds))
    results["load"] = [min(kept.loads, default=0.0), max(kept.loads, default=0.0)]
    (work / "endtoend.json").write_text(json.dumps(results, indent=1))
    place.show(to_markdown(results).splitlines())
    if args.write:
        draw_plot(results, DOCS / "images" / "cost-accuracy.svg")


def resized_photos(sizes: Sequence[str]) -> dict[str, bytes]:
    """A shipped photograph as JPEG bytes at each size; the larger ones are enlarged, for decoding costs the same."""
    photo = Image.open(next(path for path in example_photos() if path.stem == "coffee"))
    out = {}
    for name in sizes:
        encoded = io.BytesIO()
        photo.resize(SIZES[name], Image.Resampling.LANCZOS).save(encoded, "JPEG", quality=90)
        out[name] = encoded.getvalue()
    return out


def groups_of(model: str, packs: Path, results: dict[str, Any]) -> list[list[Mode]]:
    """The modes of one model by the process they share, the authors' way first."""
    torch_model, pack = ("pocket-torch", "pocket") if model == "pocket" else export_vit(packs, results)
    groups = [
        [Mode(REFERENCE, torch_model, reference=True)],
        [Mode(KEPT_MEMORY, torch_model, reference=True, keeps_memory=True)],
        [Mode("torch", torch_model)],
    ]
    for precision in ("fp32", "int8"):
        fixed = (CURVE if model == "pocket" else FIXED)[precision]
        modes = [Mode(precision, pack, precision=precision)]
        modes += [Mode(fixed_name(precision, n), pack, precision=precision, n_views=n) for n in fixed]
        if model == "pocket":
            modes += [one for one in MODES if one.precision == precision and one.name in STREAMED]
        groups.append(modes)
    rounds = [
        Mode(rounds_name("int8", n), pack, precision="int8", method="auto", n_views="auto", ends_after=n)
        for n in ROUNDS
    ]
    return [*groups, rounds]


STREAMED = tuple(mode.name for mode in MODES if mode.name in STOPPING)
"""Modes that are measured in a stream of real photos alone, as only there they look at as many views as they will."""


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


class Measured:
    """The seconds of one model's modes, measured or read from a run before."""

    def __init__(self, model: str, kept: Kept, labels: Sequence[str], *, any_texts: bool) -> None:
        self._model, self._kept, self._labels, self._any_texts = model, kept, labels, any_texts
        self._workers: list[Worker] = []

    def all(
        self, groups: list[list[Mode]], photos: dict[str, bytes], stream: list[bytes], *, rounds: int
    ) -> dict[str, Any]:
        """Per mode: seconds (all, CPU, reading, drawing) of every photo and round, of the stream, and megabytes."""
        single: dict[str, list[Any]] = {mode.name: [] for group in groups for mode in group}
        streamed: dict[str, list[Any]] = {name: [] for name in single}
        with tempfile.TemporaryDirectory() as cache:
            os.environ["VIEWVOTE_CACHE"] = cache  # random class embeddings must not stay
            for number in range(rounds):
                for photo, data in photos.items():
                    for name, spent in self._unit(["single", photo, number], groups, [data]).items():
                        single[name].append([photo, number, *spent])
                self._say(f"round {number + 1} of {rounds}")
            for number in range(min(rounds, STREAMS)):
                for name, (seconds, cpu, *_) in self._unit(["stream", len(stream), number], groups, stream).items():
                    streamed[name].append([number, seconds, cpu])
                self._say(f"stream {number + 1} of {min(rounds, STREAMS)}")
            found = self._kept.unit([self._model, "peak"], lambda: self._peaks(groups))
            for worker in self._workers:
                worker.close()
            del os.environ["VIEWVOTE_CACHE"]
        return {"single": single, "stream": streamed, "peak": found, "streamed photos": len(stream)}

    def _unit(self, name: list[Any], groups: list[list[Mode]], photos: list[bytes]) -> dict[str, list[float]]:
        """Seconds a photo of every mode asked about these photos, in an order of this round."""
        alone = name[0] == "single"

        def measure() -> dict[str, list[float]]:
            pairs = [(worker, mode) for worker in self._open(groups) for mode in worker.modes if _asked(mode, alone)]
            random.Random(name[-1]).shuffle(pairs)
            return {mode.name: _seconds(worker, mode, photos, alone=alone) for worker, mode in pairs}

        found: dict[str, list[float]] = self._kept.unit([self._model, *name], measure)
        return found

    def _open(self, groups: list[list[Mode]]) -> list[Worker]:
        """The workers, started and warmed up when they are first needed."""
        if not self._workers:
            photo = next(iter(resized_photos(["600 x 400"]).values()))
            self._workers = [Worker(group, self._labels, any_texts=self._any_texts) for group in groups]
            for worker in self._workers:
                for mode in worker.modes:
                    worker.one(mode, photo)
        return self._workers

    def _peaks(self, groups: list[list[Mode]]) -> dict[str, float]:
        return {worker.modes[0].name: worker.peak() for worker in self._open(groups)}

    def _say(self, text: str) -> None:
        print(f"{self._model}: {text}", file=sys.stderr, flush=True)


def _asked(mode: Mode, alone: bool) -> bool:
    """Whether a mode is measured with photos one by one, or else in the stream."""
    if mode.name in STREAMED:
        return not alone
    return alone or (mode.n_views == 64 and mode.ends_after is None)


def _seconds(worker: Worker, mode: Mode, photos: list[bytes], *, alone: bool) -> list[float]:
    run = worker.one(mode, photos[0]) if alone else worker.many(mode, photos)
    parts = [sum(part) for part in zip(*((answer.read, answer.render) for answer in run.answers), strict=True)]
    return [value / len(photos) for value in (run.seconds, run.cpu, *parts)]


def measure_labels(photo: bytes, kept: Kept, *, rounds: int) -> dict[str, list[list[float]]]:
    """Seconds and CPU seconds of one photo with 10, 1000 and 10,000 labels whose embeddings are already there."""

    def measure() -> dict[str, list[list[float]]]:
        counts = {str(n): [f"thing number {i}" for i in range(n)] for n in (10, 1000, 10_000)}
        workers = {n: Worker([Mode(n, "pocket")], labels, any_texts=True) for n, labels in counts.items()}
        taken: dict[str, list[list[float]]] = {n: [] for n in workers}
        for worker in workers.values():
            worker.one(worker.modes[0], photo)
        for number in range(rounds):
            for n in random.Random(number).sample(list(workers), len(workers)):
                run = workers[n].one(workers[n].modes[0], photo)
                taken[n].append([run.seconds, run.cpu])
        for worker in workers.values():
            worker.close()
        return {n: np.array(runs).T.tolist() for n, runs in taken.items()}

    with tempfile.TemporaryDirectory() as cache:
        os.environ["VIEWVOTE_CACHE"] = cache
        found: dict[str, list[list[float]]] = kept.unit(["labels"], measure)
        del os.environ["VIEWVOTE_CACHE"]
    return found


if __name__ == "__main__":
    main()
