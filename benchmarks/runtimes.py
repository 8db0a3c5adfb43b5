"""ONNX Runtime against OpenVINO on CLIP-shaped vision towers: fp32, static and dynamic int8, several batch sizes.

    python -m benchmarks.runtimes --towers lite0 b0 vit --rounds 5

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
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from viewvote.encoders.onnx.runtimes import count_workers, open_session, spread
from viewvote.telemetry import without_openvino_telemetry

BATCHES = (1, 8, 16, 32, 64)
VARIANTS = ("fp32", "static", "dynamic")
SPREAD = 16
Cell = tuple[str, str, str]  # variant, runtime, mode


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--towers", nargs="+", default=["lite0", "b0", "vit"], choices=["lite0", "b0", "vit"])
    parser.add_argument("--batches", nargs="+", type=int, default=list(BATCHES))
    parser.add_argument("--variants", nargs="+", default=list(VARIANTS), choices=VARIANTS)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--models", type=Path, default=Path("runtime-towers"), help="folder for the exported towers")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    args.models.mkdir(exist_ok=True)
    for tower in args.towers:
        paths = {variant: build(tower, variant, args.models) for variant in args.variants}
        print_table(tower, measure(paths, args.batches, args.rounds))


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


def measure(paths: dict[str, Path], batches: list[int], rounds: int) -> dict[Cell, list[float]]:
    """Milliseconds per view of every cell in every round."""
    cells = {}
    views = np.concatenate(list(pixels(max(*batches, SPREAD))))
    for variant, path in paths.items():
        for runtime, open_batched in (("onnxruntime", batched_ort), ("openvino", batched_openvino)):
            run = open_batched(path)
            for batch in batches:
                cells[variant, runtime, f"batch {batch}"] = (lambda run=run, batch=batch: run(views[:batch]), batch)
            cells[variant, runtime, "spread"] = (spread_views(path, runtime, views), SPREAD)
    times: dict[Cell, list[float]] = {cell: [] for cell in cells}
    for cell in cells:
        cells[cell][0]()  # warm up
    for number in range(rounds):
        for cell in random.Random(number).sample(list(cells), len(cells)):
            work, count = cells[cell]
            start = time.perf_counter()
            work()
            times[cell].append((time.perf_counter() - start) / count * 1000)
    return times


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
    pool = ThreadPoolExecutor(workers)

    def work(i: int) -> np.ndarray:
        return session.run({"pixel_values": views[i : i + 1]}, output="image_embeds")

    return lambda: spread(work, SPREAD, pool=pool)


def print_table(tower: str, times: dict[Cell, list[float]]) -> None:
    modes = list(dict.fromkeys(mode for _, _, mode in times))
    rounds = len(next(iter(times.values())))
    print(f"\n### {tower}: ms per view, median of {rounds} interleaved rounds (quartiles)\n")
    print("| tower | runtime | " + " | ".join(modes) + " |")
    print("|---|---|" + "---:|" * len(modes))
    for variant, runtime in dict.fromkeys((variant, runtime) for variant, runtime, _ in times):
        texts = []
        for mode in modes:
            low, middle, high = np.percentile(times[variant, runtime, mode], [25, 50, 75])
            texts.append(f"{middle:.1f} ({low:.1f}-{high:.1f})")
        print(f"| {variant} | {runtime} | " + " | ".join(texts) + " |", flush=True)
    print(json.dumps({" ".join(cell): [round(t, 2) for t in values] for cell, values in times.items()}), flush=True)


if __name__ == "__main__":
    main()
