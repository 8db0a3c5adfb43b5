"""The files of a tiny pack, made by code: a mean pixel and a mean embedding, each times a matrix."""

import json

import numpy as np
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, pre_tokenizers

DIM, SIZE = 4, 8
WORDS = ["<pad>", "<unk>", "a", "photo", "of", "dog"]
CONFIG = {
    "format": "viewvote-pack-1",
    "name": "tiny",
    "size": SIZE,
    "mean": [0.5, 0.4, 0.3],
    "std": [0.2, 0.3, 0.4],
    "interpolation": "bilinear",
    "resize": "shortest",
    "short_side": 10,
    "scale": 50.0,
    "bias": -1.5,
    "context_length": 6,
    "dim": DIM,
    "pad_id": 0,
    "scoring": "softmax",
    "pad_to": "longest",
    "calibration": {"vote": {"source": 0.5, "slope": 1.0, "offset": 0.0}},
}
LAYOUT = {
    "config.json": {"model_type": "clip", "text_config": {"max_position_embeddings": 6, "pad_token_id": 0}},
    "preprocessor_config.json": {
        "size": {"shortest_edge": 10},
        "crop_size": {"height": SIZE, "width": SIZE},
        "image_mean": [0.5, 0.4, 0.3],
        "image_std": [0.2, 0.3, 0.4],
        "resample": 3,
        "rescale_factor": 1 / 255,
        "do_center_crop": True,
    },
    "tokenizer_config.json": {"pad_token": "<pad>", "model_max_length": 6},
}


def pack_files() -> dict[str, bytes]:
    """The files of a pack."""
    return {
        "vision.onnx": _vision(),
        "text.onnx": _text(),
        "tokenizer.json": _tokenizer(),
        "viewvote.json": json.dumps(CONFIG).encode(),
    }


def layout_files() -> dict[str, bytes]:
    """The same as a repository of the hub has it; the graphs belong into a folder onnx."""
    side = {name: json.dumps(value).encode() for name, value in LAYOUT.items()}
    return {"vision_model.onnx": _vision(), "text_model.onnx": _text(), "tokenizer.json": _tokenizer(), **side}


def _vision() -> bytes:
    weights = np.random.default_rng(0).standard_normal((3, DIM)).astype(np.float32)
    nodes = [
        helper.make_node("ReduceMean", ["pixel_values", "axes"], ["pooled"], keepdims=0),
        helper.make_node("MatMul", ["pooled", "weights"], ["image_embeds"]),
    ]
    shape = ["batch", 3, SIZE, SIZE]
    return _model(
        nodes,
        ("pixel_values", TensorProto.FLOAT, shape),
        {"axes": np.array([2, 3]), "weights": weights},
        "image_embeds",
    )


def _text() -> bytes:
    table = np.random.default_rng(1).standard_normal((len(WORDS), DIM)).astype(np.float32)
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["rows"]),
        helper.make_node("ReduceMean", ["rows", "one"], ["text_embeds"], keepdims=0),
    ]
    shape = ["batch", "tokens"]
    return _model(nodes, ("input_ids", TensorProto.INT64, shape), {"table": table, "one": np.array([1])}, "text_embeds")


def _model(
    nodes: list[object], taken: tuple[str, int, list[object]], constants: dict[str, np.ndarray], given: str
) -> bytes:
    initial = [numpy_helper.from_array(value, name) for name, value in constants.items()]
    output = helper.make_tensor_value_info(given, TensorProto.FLOAT, ["batch", DIM])
    graph = helper.make_graph(nodes, "tiny", [helper.make_tensor_value_info(*taken)], [output], initial)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    return bytes(model.SerializeToString())


def _tokenizer() -> bytes:
    tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    return tokenizer.to_str().encode()
