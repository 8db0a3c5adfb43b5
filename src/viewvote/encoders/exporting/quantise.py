"""An int8 copy of a vision tower, calibrated on pixels."""

import logging
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ...types import Float32

_CONVOLUTION = ("Conv", "Gemm", "MatMul", "Add", "Mul", "Clip", "GlobalAveragePool")
_TRANSFORMER = ("Conv", "Gemm", "MatMul")


def quantise(source: Path, target: Path, *, pixels: Iterable[Float32]) -> None:
    """Write `target`, the graph of `source` with int8 weights and activations, from batches (views, 3, size, size).

    Weights keep 7 bits: CPUs with AVX2 but without VNNI add two 8-bit products in 16 bits, which saturates with full
    weights. Only products with constant weights are quantised: in attention, both sides vary, and softmax needs range.
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
            quantize_static(
                str(prepared),
                str(target),
                _Reader(pixels),
                quant_format=QuantFormat.QDQ,
                op_types_to_quantize=list(_TRANSFORMER if is_transformer else _CONVOLUTION),
                per_channel=True,
                reduce_range=True,
                activation_type=QuantType.QUInt8,
                weight_type=QuantType.QInt8,
                extra_options={"MatMulConstBOnly": True},
            )
        finally:
            logging.getLogger().removeFilter(_no_advice)


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
