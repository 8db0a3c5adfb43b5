"""An int8 copy of a vision tower, calibrated on pixels."""

import logging
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...arrays import Float32

if TYPE_CHECKING:
    import onnx

_PRODUCTS = ["MatMul", "Gemm"]
_CONVOLUTION = ("Conv", "Gemm", "MatMul", "Add", "Mul", "Clip", "GlobalAveragePool")
_TRANSFORMER = ("Conv", "Gemm", "MatMul")


def quantise(source: Path, target: Path, *, pixels: Iterable[Float32]) -> None:
    """Write `target`, the graph of `source` with int8 weights and activations, from batches (views, 3, size, size).

    Weights keep 7 bits: CPUs with AVX2 but without VNNI add two 8-bit products in 16 bits, which saturates with full
    weights. Depthwise convolutions, the most sensitive and summed in 32 bits everywhere, keep 8. Only products with
    constant weights are quantised: in attention, both sides vary, and softmax needs range; and what a transformer's
    products give is not rounded again, for norms and activations take it as it is. The last projection and what follows
    it stay in float32: they cost nothing, and parts of a feature may be much shorter than others.
    """
    import onnx
    from onnxruntime.quantization import QuantFormat, QuantType, quantize_static
    from onnxruntime.quantization.shape_inference import quant_pre_process

    operators = {node.op_type for node in onnx.load(source, load_external_data=False).graph.node}
    is_transformer = bool(operators & {"LayerNormalization", "Softmax", "Attention"})
    with tempfile.TemporaryDirectory() as folder:
        prepared = Path(folder) / "prepared.onnx"
        logging.getLogger().addFilter(_no_advice)
        try:
            quant_pre_process(str(source), str(prepared), skip_symbolic_shape=True)
            model = onnx.load(prepared)
            for i, node in enumerate(model.graph.node):
                node.name = node.name or f"node_{i}"  # nodes are left out by name
            onnx.save(model, prepared)
            quantize_static(
                str(prepared),
                str(target),
                _Reader(pixels),
                quant_format=QuantFormat.QDQ,
                op_types_to_quantize=list(_TRANSFORMER if is_transformer else _CONVOLUTION),
                nodes_to_exclude=[*_from_last_projection(model.graph), *_varying_products(model.graph)],
                per_channel=True,
                reduce_range=True,
                activation_type=QuantType.QUInt8,
                weight_type=QuantType.QInt8,
                extra_options={
                    "TensorQuantOverrides": _depthwise_overrides(model.graph),
                    "OpTypesToExcludeOutputQuantization": _PRODUCTS if is_transformer else [],
                },
            )
        finally:
            logging.getLogger().removeFilter(_no_advice)


def _depthwise_overrides(graph: "onnx.GraphProto") -> dict[str, list[dict[str, Any]]]:
    """Full 8-bit weights for the depthwise convolutions."""
    from onnxruntime.quantization import QuantType

    shapes = {tensor.name: tuple(tensor.dims) for tensor in graph.initializer}
    weights = [node.input[1] for node in graph.node if node.op_type == "Conv"]
    full = {"axis": 0, "quant_type": QuantType.QInt8, "symmetric": True, "reduce_range": False}
    return {name: [dict(full)] for name in weights if len(shapes.get(name, ())) == 4 and shapes[name][1] == 1}


def _from_last_projection(graph: "onnx.GraphProto") -> list[str]:
    """The names of the last product with constant weights, where it is no convolution, and of all nodes after it."""
    constant = {tensor.name for tensor in graph.initializer}
    products = [
        i
        for i, node in enumerate(graph.node)
        if node.op_type in ("Conv", "Gemm", "MatMul") and node.input[1] in constant
    ]
    if not products or graph.node[products[-1]].op_type == "Conv":
        return []
    return [node.name for node in graph.node[products[-1] :]]


def _varying_products(graph: "onnx.GraphProto") -> list[str]:
    """The names of the MatMul nodes without constant weights.

    The quantiser has an option for this, but heeds it in dynamic quantisation only.
    """
    constant = {tensor.name for tensor in graph.initializer}
    return [node.name for node in graph.node if node.op_type == "MatMul" and not constant.intersection(node.input)]


def _no_advice(record: logging.LogRecord) -> bool:
    """False for the quantiser's advice to preprocess the model, which it gives after preprocessing too."""
    return "quantization" not in record.pathname


class _Reader:
    """Calibration batches in the shape the quantiser asks for them."""

    def __init__(self, pixels: Iterable[Float32]) -> None:
        self._pixels: Iterator[Float32] = iter(pixels)

    def get_next(self) -> dict[str, Any] | None:
        """The next batch, or None after the last."""
        batch = next(self._pixels, None)
        return None if batch is None else {"pixel_values": batch}
