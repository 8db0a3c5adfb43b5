"""Step 4: write the head as an ONNX graph, and the pack's settings."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from onnx import TensorProto

from training.clip_b16 import common
from training.onnx_graph import Graph
from training.sentence import CONTEXT, PAD, WIDTH
from viewvote.encoders.onnx.config import FILE, PackConfig
from viewvote.images.spec import ImageSpec


def save_head(fitted: dict[str, np.ndarray], path: Path) -> None:
    """Sentence vectors -> unit text features; int8 and float16 storage, float32 arithmetic."""
    graph = Graph()

    def unit(x: str, name: str = "") -> str:
        return graph.op("Div", x, graph.op("ReduceL2", x, axes=[-1], keepdims=1), name=name)

    def constant(name: str) -> str:
        return graph.tensor(name, fitted[name].astype(np.float32))

    centres = graph.int8("centres", np.ascontiguousarray(fitted["centres"].T), axis=1)  # (384, centres)
    gap = graph.op("Sub", graph.op("MatMul", "sentence_embeds", centres), graph.const(np.float32(1)))
    near = graph.op("Exp", graph.op("Mul", gap, constant("gamma")))
    near = unit(graph.op("MatMul", near, graph.int8("mix", fitted["mix"], axis=0)))
    told = graph.op("MatMul", "sentence_embeds", graph.half("skip", fitted["skip"]))
    told = unit(graph.op("Add", told, constant("shift")))
    both = graph.op("Add", near, graph.op("Mul", told, constant("share")))
    along = graph.op("MatMul", both, graph.const(np.ascontiguousarray(fitted["axes"].T)))
    direction = unit(graph.op("Sub", both, graph.op("MatMul", along, constant("axes"))))
    unit(graph.op("Add", direction, graph.const(np.float32(fitted["pull"]) * fitted["axes"][1])), name="text_embeds")
    sentences: dict[str, tuple[int, list[str | int]]] = {"sentence_embeds": (TensorProto.FLOAT, ["batch", WIDTH])}
    graph.save(str(path), sentences, {"text_embeds": ["batch", common.DIM]})


def main() -> None:
    """Write the pack's folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--weights", type=Path, default=Path("cache/head.npz"))
    parser.add_argument("--pack", type=Path, required=True)
    args = parser.parse_args()
    common.need(parser, args.weights.parent, args.weights.name)
    args.pack.mkdir(parents=True, exist_ok=True)
    fitted = dict(np.load(args.weights))
    save_head(fitted, args.pack / "head.onnx")
    settings = PackConfig(
        name="clip-b16",
        image=ImageSpec(size=224),
        scale=float(fitted["scale"]),
        bias=0.0,
        context_length=CONTEXT,
        dim=common.DIM,
        pad_id=PAD,
        scripts=("latin",),
    )
    (args.pack / FILE).write_text(json.dumps(settings.to_dict(), indent=2) + "\n")
    for file in sorted(args.pack.iterdir()):
        print(f"{file.name:16} {file.stat().st_size:>12,} bytes")


if __name__ == "__main__":
    main()
