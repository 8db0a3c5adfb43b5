"""Step 5: add the int8 image tower, from the unrounded weights, its ranges measured on training views."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from training.export import SIZE, save_vision
from training.lite import MEAN, STD, load_lite
from training.onnx_graph import quantise as quantise_weight
from training.photos import list_photos, normalise, training_view
from training.sources import lite_checkpoint
from viewvote.encoders.export.quantise import quantise

PHOTOS, VIEWS = 128, 4


def compact_weights(graph: onnx.GraphProto) -> None:
    """Store the projection, which the quantiser leaves in float32, in int8 with one step per output."""
    for tensor in [t for t in graph.initializer if t.data_type == TensorProto.FLOAT and len(t.dims) == 2]:
        inputs = [(node, i) for node in graph.node for i, name in enumerate(node.input) if name == tensor.name]
        codes, steps = quantise_weight(numpy_helper.to_array(tensor), axis=1)
        name = tensor.name
        graph.initializer.remove(tensor)
        graph.initializer.extend([numpy_helper.from_array(codes, name), numpy_helper.from_array(steps, f"{name}.step")])
        wide = helper.make_node("Cast", [name], [f"{name}.wide"], to=TensorProto.FLOAT)
        scaled = helper.make_node("Mul", [f"{name}.wide", f"{name}.step"], [f"{name}.scaled"])
        for node in (scaled, wide):
            graph.node.insert(0, node)
        for node, i in inputs:
            node.input[i] = f"{name}.scaled"


def shorten_names(graph: onnx.GraphProto) -> None:
    """Rename every tensor inside the graph: the quantiser's long names are a twentieth of the file."""
    public = {value.name for value in [*graph.input, *graph.output]}
    short: dict[str, str] = {"": ""}

    def rename(name: str) -> str:
        return name if name in public else short.setdefault(name, f"t{len(short)}")

    for tensor in graph.initializer:
        tensor.name = rename(tensor.name)
    for node in graph.node:
        node.name = ""
        node.input[:] = [rename(name) for name in node.input]
        node.output[:] = [rename(name) for name in node.output]
    del graph.value_info[:]


def main() -> None:
    """Write `vision.int8.onnx` beside the pack's other files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--weights", type=Path, default=Path("cache/joint.npz"))
    parser.add_argument("--pack", type=Path, required=True)
    parser.add_argument("--tower", default="lite1")
    args = parser.parse_args()
    photos = list_photos(args.data)
    labelled = [i for i, photo in enumerate(photos) if photo.label >= 0]
    chosen = np.random.default_rng(0).permutation(labelled)[:PHOTOS]
    mean, std = np.full(3, MEAN, np.float32), np.full(3, STD, np.float32)

    def pixels() -> Iterator[np.ndarray]:
        for i in chosen:  # the source view and random crops: what the tower sees when it votes
            yield normalise([training_view(photos[i], int(i), view, SIZE) for view in range(VIEWS)], mean, std)

    target = args.pack / "vision.int8.onnx"
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / "vision.onnx"
        save_vision(load_lite(lite_checkpoint(args.tower), args.tower), np.load(args.weights), plain, compact=False)
        quantise(plain, target, pixels=pixels())
    model = onnx.load(target)
    compact_weights(model.graph)
    shorten_names(model.graph)
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, target)
    print(f"{target.name:16} {target.stat().st_size:>12,} bytes")


if __name__ == "__main__":
    main()
