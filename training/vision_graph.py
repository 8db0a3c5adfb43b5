"""The image tower as an ONNX graph."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from onnx import TensorProto

from training.lite import Lite, SameConv
from training.onnx_graph import Graph, Weights


class LiteGraph(Graph):
    """EfficientNet-Lite, its explicit paddings computed for one input size."""

    def __init__(self, net: Lite, size: int, *, compact: bool) -> None:
        super().__init__()
        self.net, self.size, self.compact = net, size, compact

    def weight(self, name: str, value: Weights) -> str:
        """A weight in float32 or, when compact, in int8 or float16.

        The 1 x 1 convolutions are nearly all of the weights and bear int8, except in the first blocks: those are small,
        and what they lose is a third of what is lost in all.
        """
        if not self.compact:
            return self.tensor(name, value)
        early = name.startswith(("stem.", "blocks.0.", "blocks.1."))
        return self.half(name, value) if early or value.shape[2:] != (1, 1) else self.int8(name, value, axis=0)

    def conv(self, x: str, name: str, layer: SameConv, size: int, *, relu6: bool) -> tuple[str, int]:
        """The map after the convolution (and ReLU6), and its side."""
        kernel, stride = layer.kernel_size[0], layer.stride[0]
        out = math.ceil(size / stride)
        total = max((out - 1) * stride + kernel - size, 0)
        pads = [total // 2, total // 2, total - total // 2, total - total // 2]
        assert layer.bias is not None
        weight = self.weight(f"{name}.weight", layer.weight.detach().numpy())
        bias = self.tensor(f"{name}.bias", layer.bias.detach().numpy())
        attributes = {"kernel_shape": [kernel] * 2, "strides": [stride] * 2, "pads": pads, "group": layer.groups}
        y = self.op("Conv", x, weight, bias, **attributes)
        return (self.op("Clip", y, *self.six()) if relu6 else y), out

    def six(self) -> tuple[str, str]:
        """The bounds of ReLU6, stored once."""
        if not any(t.name == "zero" for t in self.tensors):
            self.tensor("zero", np.float32(0))
            self.tensor("six", np.float32(6))
        return "zero", "six"

    def features(self, x: str) -> str:
        """The pooled features (batch, 1280)."""
        x, size = self.conv(x, "stem", self.net.stem, self.size, relu6=True)
        for i, block in enumerate(self.net.blocks):
            y, inner = x, size
            if block.expand is not None:
                y, inner = self.conv(y, f"blocks.{i}.expand", block.expand, size, relu6=True)
            y, inner = self.conv(y, f"blocks.{i}.depthwise", block.depthwise, inner, relu6=True)
            y, inner = self.conv(y, f"blocks.{i}.project", block.project, inner, relu6=False)
            x, size = (self.op("Add", x, y) if block.skip else y), inner
        x, _ = self.conv(x, "head", self.net.head, size, relu6=True)
        return self.op("Flatten", self.op("GlobalAveragePool", x))


def save_features(net: Lite, path: Path, size: int) -> None:
    """Write the graph that the caching step runs: the pooled features."""
    graph = LiteGraph(net, size, compact=False)
    graph.op("Identity", graph.features("pixel_values"), name="pooled")
    pixels: list[str | int] = ["batch", 3, size, size]
    graph.save(str(path), {"pixel_values": (TensorProto.FLOAT, pixels)}, {"pooled": ["batch", 1280]})
