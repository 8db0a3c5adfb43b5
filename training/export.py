"""Step 4: write the pack (two ONNX graphs, tokenizer, settings) from the trained weights."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto, helper

from training.lite import MEAN, STD, Lite, load_lite
from training.onnx_graph import Graph
from training.sentence import CONTEXT, PAD, TEXT_INPUTS, WIDTH, SentenceGraph, load_sentence_weights, load_tokenizer
from training.sources import lite_checkpoint
from training.vision_graph import LiteGraph

SIZE = 224
Fitted = Mapping[str, NDArray[np.float32]]


def join_parts(graph: Graph, rows: str, captions: str, fitted: Fitted, name: str) -> None:
    """Both parts at their lengths, side by side, as unit vectors: the output `name`."""

    def unit(x: str) -> str:
        return graph.op("Div", x, graph.op("ReduceL2", x, axes=[-1], keepdims=1))

    short = graph.op("Mul", unit(captions), graph.tensor("share", np.float32(fitted["share"])))
    both = graph.op("Concat", unit(rows), short, axis=1)
    graph.op("Div", both, graph.op("ReduceL2", both, axes=[-1], keepdims=1), name=name)


def save_vision(net: Lite, fitted: Fitted, path: Path, *, compact: bool = True) -> None:
    """The image tower: unit outputs in float32 arithmetic, from int8 weights when compact."""
    graph = LiteGraph(net, SIZE, compact=compact)
    pooled = graph.features("pixel_values")
    store = partial(graph.int8, axis=1) if compact else graph.tensor
    weight = store("project.weight", fitted["weight"])
    raw = graph.op("Add", graph.op("MatMul", pooled, weight), graph.tensor("project.bias", fitted["bias"]))
    captions = fitted["skip"].shape[1]
    rows = fitted["weight"].shape[1] - captions
    graph.nodes.append(
        helper.make_node("Split", [raw, graph.const(np.array([rows, captions]))], ["rows", "captions"], axis=1)
    )
    join_parts(graph, "rows", "captions", fitted, "image_embeds")
    pixels = {"pixel_values": (TensorProto.FLOAT, ["batch", 3, SIZE, SIZE])}
    graph.save(str(path), pixels, {"image_embeds": ["batch", fitted["weight"].shape[1]]})


def save_text(fitted: Fitted, path: Path) -> None:
    """The text tower: int8 sentence encoder, then the kernel head, all in float32 arithmetic."""
    graph = SentenceGraph(load_sentence_weights())
    sentence = graph.op("Identity", graph.sentence("input_ids", "attention_mask"), name="sentence_embeds")
    centres = graph.int8("head.centres", np.ascontiguousarray(fitted["centres"].T), axis=1)  # (384, centres)
    gap = graph.op("Sub", graph.op("MatMul", sentence, centres), graph.const(np.float32(1)))
    near = graph.op("Exp", graph.op("Mul", gap, graph.tensor("head.gamma", np.float32(fitted["gamma"]))))
    rows = graph.op("MatMul", near, graph.int8("head.mix", fitted["mix"], axis=0))  # (texts, rows)
    captions = graph.op("MatMul", sentence, graph.half("head.skip", fitted["skip"]))
    captions = graph.op("Add", captions, graph.tensor("head.shift", fitted["shift"]))
    join_parts(graph, rows, captions, fitted, "text_embeds")
    outputs: dict[str, list[str | int]] = {
        "text_embeds": ["batch", fitted["weight"].shape[1]],
        "sentence_embeds": ["batch", WIDTH],
    }
    graph.save(str(path), TEXT_INPUTS, outputs)


def main() -> None:
    """Write the pack's folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--weights", type=Path, default=Path("cache/joint.npz"))
    parser.add_argument("--pack", type=Path, required=True)
    parser.add_argument("--tower", default="lite1")
    args = parser.parse_args()
    args.pack.mkdir(parents=True, exist_ok=True)
    fitted = np.load(args.weights)
    save_vision(load_lite(lite_checkpoint(args.tower), args.tower), fitted, args.pack / "vision.onnx")
    save_text(fitted, args.pack / "text.onnx")
    load_tokenizer().save(str(args.pack / "tokenizer.json"), pretty=False)
    settings = {
        "format": "viewvote-pack-1",
        "name": "pocket",
        "size": SIZE,
        "mean": [MEAN] * 3,
        "std": [STD] * 3,
        "interpolation": "bicubic",
        "scale": float(fitted["scale"]),
        "bias": 0.0,
        "context_length": CONTEXT,
        "dim": fitted["weight"].shape[1],
        "pad_id": PAD,
        "scripts": ["latin"],
    }
    (args.pack / "viewvote.json").write_text(json.dumps(settings, indent=2) + "\n")
    for file in sorted(args.pack.iterdir()):
        print(f"{file.name:16} {file.stat().st_size:>12,} bytes")


if __name__ == "__main__":
    main()
