"""Tiny real packs, written with the onnx helper and computed again by hand."""

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from viewvote.encoders import LoadOptions, load_encoder
from viewvote.encoders.onnx.encoder import OnnxEncoder

needs_openvino = pytest.mark.skipif(find_spec("openvino") is None, reason="needs the openvino extra")
RUNTIMES = ["onnxruntime", pytest.param("openvino", marks=needs_openvino)]
SIZE, DIM = 8, 4
WORDS = ["<pad>", "<start>", "<end>", "<unk>", "a", "photo", "of", "dog", "cat"]
PIXEL_WEIGHTS = np.random.default_rng(0).standard_normal((3, DIM)).astype(np.float32)
EMBEDDINGS = np.random.default_rng(1).standard_normal((len(WORDS), DIM)).astype(np.float32)
MEAN, STD = [0.5, 0.4, 0.3], [0.2, 0.3, 0.4]


def config(**changes: Any) -> dict[str, Any]:
    data = {
        "format": "viewvote-pack-1",
        "name": "tiny",
        "size": SIZE,
        "mean": MEAN,
        "std": STD,
        "interpolation": "bilinear",
        "scale": 50.0,
        "bias": -1.5,
        "context_length": 6,
        "dim": DIM,
        "pad_id": 0,
    }
    return {key: value for key, value in (data | changes).items() if value is not ...}


def write_pack(folder: Path, *, mask: bool = True, **changes: Any) -> Path:
    """A pack whose view feature is the mean pixel times a matrix and whose text feature is the mean embedding."""
    folder.mkdir(parents=True, exist_ok=True)
    save_vision(folder / "vision.onnx")
    save_text(folder / "text.onnx", mask=mask)
    save_tokenizer(folder / "tokenizer.json")
    (folder / "viewvote.json").write_text(json.dumps(config(**changes)))
    return folder


def write_layout(folder: Path, *, config: dict[str, Any], preprocessor: dict[str, Any], output: str = "") -> Path:
    """The same model as a hub repository lays it out."""
    (folder / "onnx").mkdir(parents=True)
    save_vision(folder / "onnx" / "vision_model.onnx", output=output or "image_embeds")
    save_text(folder / "onnx" / "text_model.onnx", output=output or "text_embeds")
    save_tokenizer(folder / "tokenizer.json")
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "preprocessor_config.json").write_text(json.dumps(preprocessor))
    (folder / "tokenizer_config.json").write_text(json.dumps({"pad_token": "<pad>", "model_max_length": 6}))
    return folder


def save_vision(
    path: Path, *, size: int | str = SIZE, batch: int | str = "batch", output: str = "image_embeds", bias: float = 0.0
) -> None:
    nodes = [
        helper.make_node("ReduceMean", ["pixel_values", "axes"], ["pooled"], keepdims=0),
        helper.make_node("Gemm", ["pooled", "weights", "bias"], [output]),
    ]
    constants = {
        "axes": np.array([2, 3]),
        "weights": PIXEL_WEIGHTS,
        "bias": np.full(DIM, bias, np.float32),
    }
    inputs = [helper.make_tensor_value_info("pixel_values", TensorProto.FLOAT, [batch, 3, size, size])]
    _save(path, nodes, inputs, constants, outputs=[(output, [batch, DIM])])


def save_text(path: Path, *, mask: bool = True, output: str = "text_embeds") -> None:
    """Mean embedding of the tokens (of the unmasked ones, if the graph takes a mask), and an extra output."""
    ids = helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch", "tokens"])
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["rows"])]
    constants: dict[str, np.ndarray] = {"table": EMBEDDINGS, "one": np.array([1]), "last": np.array([-1])}
    if not mask:
        nodes.append(helper.make_node("ReduceMean", ["rows", "one"], [output], keepdims=0))
        inputs = [ids]
    else:
        inputs = [ids, helper.make_tensor_value_info("attention_mask", TensorProto.INT64, ["batch", "tokens"])]
        nodes += [
            helper.make_node("Cast", ["attention_mask"], ["weight"], to=TensorProto.FLOAT),
            helper.make_node("Unsqueeze", ["weight", "last"], ["column"]),
            helper.make_node("Mul", ["rows", "column"], ["masked"]),
            helper.make_node("ReduceSum", ["masked", "one"], ["total"], keepdims=0),
            helper.make_node("ReduceSum", ["weight", "one"], ["count"], keepdims=1),
            helper.make_node("Div", ["total", "count"], [output]),
        ]
    nodes.append(helper.make_node("Neg", [output], ["sentence_embeds"]))
    _save(path, nodes, inputs, constants, outputs=[(output, ["batch", DIM]), ("sentence_embeds", ["batch", DIM])])


def save_tokenizer(path: Path) -> None:
    tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<start> $A <end>", special_tokens=[("<start>", 1), ("<end>", 2)]
    )
    tokenizer.save(str(path))


def view_features(views: np.ndarray) -> np.ndarray:
    """Naive oracle: (v / 255 - mean) / std, averaged, projected, scaled to length 1."""
    pixels = (views / 255.0 - np.array(MEAN)) / np.array(STD)
    return unit(pixels.mean(axis=(1, 2)) @ PIXEL_WEIGHTS.astype(np.float64))


def text_features(ids: list[int]) -> np.ndarray:
    return unit(EMBEDDINGS[ids].astype(np.float64).mean(axis=0))


def unit(x: np.ndarray) -> np.ndarray:
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def _save(path: Path, nodes: list, inputs: list, constants: dict[str, np.ndarray], *, outputs: list) -> None:
    graph = helper.make_graph(
        nodes,
        "tiny",
        inputs,
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in outputs],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    onnx.checker.check_model(model)
    onnx.save(model, path)


def load(folder: Path, **options: Any) -> OnnxEncoder:
    options.setdefault("runtime", "onnxruntime")
    encoder = load_encoder(f"onnx:{folder}", LoadOptions(**options))
    assert isinstance(encoder, OnnxEncoder)
    return encoder


def conv_pack(folder: Path, *, dynamic: bool = False) -> Path:
    """A pack with convolutions and a wide matrix product, where kernels have something to reorder."""
    write_pack(folder, size=32, dim=64)
    rng = np.random.default_rng(3)
    weights = {
        "w1": rng.standard_normal((16, 3, 5, 5)),
        "w2": rng.standard_normal((64, 16, 3, 3)),
        "w3": rng.standard_normal((64 * 49, 64)),
    }
    nodes = [
        helper.make_node("Conv", ["pixel_values", "w1"], ["c1"], strides=[2, 2]),
        helper.make_node("Relu", ["c1"], ["r1"]),
        helper.make_node("Conv", ["r1", "w2"], ["c2"], strides=[2, 2], pads=[1, 1, 1, 1]),
        helper.make_node("Flatten", ["c2"], ["flat"]),
        helper.make_node("MatMul", ["flat", "w3"], ["image_embeds"]),
    ]
    graph = helper.make_graph(
        nodes,
        "conv",
        [helper.make_tensor_value_info("pixel_values", TensorProto.FLOAT, ["batch", 3, 32, 32])],
        [helper.make_tensor_value_info("image_embeds", TensorProto.FLOAT, ["batch", 64])],
        [numpy_helper.from_array(value.astype(np.float32), name) for name, value in weights.items()],
    )
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), folder / "vision.onnx"
    )
    if dynamic:
        from onnxruntime.quantization import QuantType, quantize_dynamic

        quantize_dynamic(folder / "vision.onnx", folder / "vision.int8.onnx", weight_type=QuantType.QUInt8)
    return folder


def deep_text_pack(folder: Path) -> Path:
    """A pack whose text features go through a wide matrix product: one row of it is rounded otherwise than many."""
    write_pack(folder, context_length=40)
    rng = np.random.default_rng(4)
    weights = {
        "table": rng.standard_normal((len(WORDS), 384)),
        "wide": rng.standard_normal((384, 512)),
        "narrow": rng.standard_normal((512, DIM)),
    }
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["rows"]),
        helper.make_node("MatMul", ["rows", "wide"], ["hidden"]),
        helper.make_node("Tanh", ["hidden"], ["active"]),
        helper.make_node("MatMul", ["active", "narrow"], ["out"]),
        helper.make_node("ReduceMean", ["out", "one"], ["text_embeds"], keepdims=0),
    ]
    constants = [numpy_helper.from_array(value.astype(np.float32), name) for name, value in weights.items()]
    graph = helper.make_graph(
        nodes,
        "text",
        [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch", "tokens"])],
        [helper.make_tensor_value_info("text_embeds", TensorProto.FLOAT, ["batch", DIM])],
        [*constants, numpy_helper.from_array(np.array([1]), "one")],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), folder / "text.onnx")
    return folder
