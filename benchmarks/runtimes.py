"""ONNX Runtime against OpenVINO on CLIP-shaped vision towers: fp32, static and dynamic int8, several batch sizes.

    python -m benchmarks.runtimes [--towers lite0 b0 vit] [--batches 8] [--variants fp32 static] [--rounds 5] [--write]

Towers have random weights: speed does not depend on them. Every round runs every cell once, in a new order, so a busy
moment of the machine hits all cells alike; the table gives medians of milliseconds per view, and how far the middle
half of the rounds is spread. "batch N" is one call on all cores; "spread" is what viewvote does: one view per call, one
core per call, several calls at a time.
"""

import argparse
import json
import logging
import random
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np

from benchmarks.kept import RESULTS, Kept, add_records
from benchmarks.machine import measured_on
from benchmarks.sections import add_write, section
from viewvote.encoders.onnx.runtimes import count_workers, open_session, spread
from viewvote.telemetry import without_openvino_telemetry
from viewvote.views.threads import Pool

TITLES = {"lite0": "EfficientNet-Lite0", "b0": "EfficientNet-B0", "vit": "ViT-B/16"}
VARIANTS = {"fp32": "fp32", "static": "static int8", "dynamic": "dynamic int8"}
RUNTIMES = {"onnxruntime": "ONNX Runtime", "openvino": "OpenVINO"}
SPREAD = 16
NAME = "runtimes"
Cell = tuple[str, str, str]  # variant, runtime, mode
Work = tuple[Callable[[], object], int]  # what runs, and its number of views
Times = dict[Cell, list[float]]  # milliseconds per view of every round


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--towers", nargs="+", default=list(TITLES), choices=TITLES)
    parser.add_argument("--batches", nargs="+", type=int, default=[8])
    parser.add_argument("--variants", nargs="+", default=["fp32", "static"], choices=VARIANTS)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--models", type=Path, default=Path("runs/runtimes"), help="folder for the exported towers")
    add_records(parser, NAME)
    add_write(parser)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    places = {tower: section("benchmarks.runtimes", tower, write=args.write) for tower in args.towers}
    args.models.mkdir(parents=True, exist_ok=True)
    kept = Kept(args.records, {"batches": args.batches, "variants": args.variants}, anew=args.anew)
    for tower, place in places.items():
        times = measure(tower, args, kept)
        place.show([f"{measured_on(kept)}; ms per view, {args.rounds} rounds.", "", *table(times)])


def measure(tower: str, args: argparse.Namespace, kept: Kept) -> Times:
    """Milliseconds per view of every cell in every round."""
    cells: dict[Cell, Work] = {}

    def one(number: int) -> list[tuple[Cell, float]]:
        if not cells:
            paths = {variant: build(tower, variant, args.models) for variant in args.variants}
            cells.update(cells_of(paths, args.batches))
            for work, _ in cells.values():
                work()  # warm up
        order = random.Random(number).sample(list(cells), len(cells))
        found = {cell: milliseconds(*cells[cell]) for cell in order}
        return [(cell, found[cell]) for cell in cells]

    rounds = [kept.unit([tower, number], lambda number=number: one(number)) for number in range(args.rounds)]
    return gathered(rounds)


def gathered(rounds: Iterable[list[tuple[Cell, float]]]) -> Times:
    """The rounds as they are recorded, by cell."""
    times: Times = {}
    for found in rounds:
        for cell, ms in found:
            times.setdefault(tuple(cell), []).append(ms)
    return times


def recorded(tower: str, path: Path = RESULTS / f"{NAME}.jsonl") -> Times:
    """What is recorded of a tower; nothing where it was not measured."""
    lines = path.read_text().splitlines()[1:] if path.exists() else []
    return gathered(one["found"] for one in map(json.loads, lines) if one["unit"][0] == tower)


def milliseconds(work: Callable[[], object], views: int) -> float:
    """What a view takes."""
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) / views * 1000


def build(tower: str, variant: str, folder: Path) -> Path:
    """The path of a tower's graph, exported or quantised if it is not there yet."""
    path = folder / f"{tower}.{variant}.onnx"
    if path.exists():
        return path
    if variant == "fp32":
        export(tower, path)
        return path
    from onnxruntime.quantization import QuantType, quantize_dynamic

    from viewvote.encoders.export.quantise import quantise

    source = build(tower, "fp32", folder)
    if variant == "static":
        quantise(source, path, pixels=list(pixels(4)))
    else:
        import onnx

        model = onnx.load(source)
        del model.graph.value_info[:]  # the exporter's shapes of transposed weights trip the quantiser
        quantize_dynamic(model, path, weight_type=QuantType.QInt8, reduce_range=True)
    return path


def export(tower: str, path: Path) -> None:
    import timm
    import torch

    torch.manual_seed(0)
    if tower == "vit":
        import open_clip

        module = open_clip.create_model("ViT-B-16", pretrained=None).visual
    else:
        name = {"lite0": "efficientnet_lite0", "b0": "efficientnet_b0"}[tower]
        module = timm.create_model(name, pretrained=False, num_classes=512)
    from viewvote.encoders.export.graph import export_vision

    export_vision(module.eval(), path, size=224)


def pixels(count: int) -> Iterator[np.ndarray]:
    rng = np.random.default_rng(0)
    yield from (rng.standard_normal((1, 3, 224, 224)).astype(np.float32) for _ in range(count))


def cells_of(paths: dict[str, Path], batches: list[int]) -> Iterator[tuple[Cell, Work]]:
    """What every cell runs."""
    views = np.concatenate(list(pixels(max(*batches, SPREAD))))
    for variant, path in paths.items():
        for runtime, open_batched in (("onnxruntime", batched_ort), ("openvino", batched_openvino)):
            run = open_batched(path)
            for batch in batches:
                yield (variant, runtime, f"batch {batch}"), ((lambda r=run, b=batch: r(views[:b])), batch)
            yield (variant, runtime, "spread"), (spread_views(path, runtime, views), SPREAD)


def batched_ort(path: Path) -> Callable[[np.ndarray], object]:
    import onnxruntime as ort

    session = ort.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return lambda x: session.run(["image_embeds"], {"pixel_values": x})


def batched_openvino(path: Path) -> Callable[[np.ndarray], object]:
    with without_openvino_telemetry():
        import openvino as ov

    config = {"INFERENCE_PRECISION_HINT": "f32", "PERFORMANCE_HINT": "LATENCY"}
    request = ov.Core().compile_model(str(path), "CPU", config).create_infer_request()
    return lambda x: request.infer({"pixel_values": x}, share_inputs=True)


def spread_views(path: Path, runtime: str, views: np.ndarray) -> Callable[[], object]:
    workers = count_workers(0)
    session = open_session(path, runtime=runtime, workers=workers)
    pool = Pool(workers, "spread")

    def work(i: int) -> np.ndarray:
        return session.run({"pixel_values": views[i : i + 1]}, output="image_embeds")

    return lambda: spread(work, SPREAD, pool=pool)


def table(times: Times) -> Iterator[str]:
    """A row for each variant and runtime: medians of the rounds, and their quartiles."""
    modes = list(dict.fromkeys(mode for _, _, mode in times))
    yield "| tower | runtime | " + " | ".join(modes) + " |"
    yield "|---|---|" + "---:|" * len(modes)
    for variant, runtime in dict.fromkeys((variant, runtime) for variant, runtime, _ in times):
        quartiles = (np.percentile(times[variant, runtime, mode], [25, 50, 75]) for mode in modes)
        cells = (f"{middle:.2f} ({low:.2f}-{high:.2f})" for low, middle, high in quartiles)
        yield f"| {VARIANTS[variant]} | {RUNTIMES[runtime]} | {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
