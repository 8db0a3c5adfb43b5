"""A small builder of ONNX graphs that stores weights compactly and computes in float32."""

from __future__ import annotations

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

Weights = NDArray[np.float32]
OPSET = 17


class Graph:
    """Nodes and weights added one after the other; every method returns the name of its result."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.tensors: list[onnx.TensorProto] = []
        self._count = 0

    def op(self, kind: str, *inputs: str, name: str = "", **attributes: object) -> str:
        """The result of one node."""
        self._count += 1
        output = name or f"{kind.lower()}_{self._count}"
        self.nodes.append(helper.make_node(kind, list(inputs), [output], **attributes))
        return output

    def tensor(self, name: str, value: NDArray[np.generic]) -> str:
        """A stored tensor, as it is."""
        self.tensors.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def const(self, value: NDArray[np.generic]) -> str:
        """A stored tensor without a name of its own."""
        self._count += 1
        return self.tensor(f"const_{self._count}", value)

    def half(self, name: str, value: Weights) -> str:
        """A weight stored in float16 and widened; the runtime folds the cast when it loads the graph."""
        stored = self.tensor(name, value.astype(np.float16))
        return self.op("Cast", stored, to=TensorProto.FLOAT)

    def int8(self, name: str, value: Weights, *, axis: int) -> str:
        """A matrix stored in int8 with one float32 step per slice along `axis`; folded when loaded."""
        codes, steps = quantise(value, axis=axis)
        stored = self.tensor(name, codes)
        wide = self.op("Cast", stored, to=TensorProto.FLOAT)
        return self.op("Mul", wide, self.tensor(f"{name}.step", steps))

    def save(
        self, path: str, inputs: dict[str, tuple[int, list[str | int]]], outputs: dict[str, list[str | int]]
    ) -> None:
        """Write the checked model; inputs map names to (element type, shape)."""
        graph = helper.make_graph(
            self.nodes,
            "viewvote",
            [helper.make_tensor_value_info(name, kind, shape) for name, (kind, shape) in inputs.items()],
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in outputs.items()],
            self.tensors,
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)
        onnx.checker.check_model(model, full_check=True)
        onnx.save(model, path)


def quantise(value: Weights, *, axis: int) -> tuple[NDArray[np.int8], Weights]:
    """Symmetric int8 codes and their steps, one step per slice along `axis` (kept as a dimension)."""
    other = tuple(i for i in range(value.ndim) if i != axis)
    steps = np.maximum(np.abs(value).max(axis=other, keepdims=True), 1e-12) / 127
    return np.round(value / steps).astype(np.int8), steps.astype(np.float32)
