"""A transformer block in the packaged tower's dialect, small enough to be computed again by hand."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from tests.encoders.onnx.packs import DIM, SIZE

TOKENS, WIDTH, HIDDEN = 4, 16, 32
EPS = np.float32(1e-5)


def make_weights(seed: int = 0) -> dict[str, np.ndarray]:
    """Float weights of the block; one channel of the norm is twenty times as large, as in real towers."""
    rng = np.random.default_rng(seed)
    gain = rng.uniform(0.5, 1.5, WIDTH)
    gain[3] = 20
    values = {
        "patch": 0.3 * rng.standard_normal((WIDTH, 3, SIZE // 2, SIZE // 2)),
        "gain": gain,
        "shift": 0.2 * rng.standard_normal(WIDTH),
        "up": rng.standard_normal((WIDTH, HIDDEN)),
        "bias": 0.1 * rng.standard_normal(HIDDEN),
        "down": rng.standard_normal((HIDDEN, WIDTH)),
        "out": rng.standard_normal((WIDTH, DIM)),
    }
    return {name: value.astype(np.float32) for name, value in values.items()}


def save_tower(path: Path, weights: dict[str, np.ndarray]) -> None:
    """The dynamically quantised graph, with a second output as the packaged one may have."""
    constants: dict[str, np.ndarray] = {
        **{name: weights[name] for name in ("patch", "gain", "shift", "bias")},
        "flat": np.array([0, WIDTH, TOKENS]),
        "two": np.float32(2),
        "eps": EPS,
        "slope": np.float32(1.702),
    }
    nodes = [
        helper.make_node("Conv", ["pixel_values", "patch"], ["grid"], strides=[SIZE // 2] * 2),
        helper.make_node("Reshape", ["grid", "flat"], ["columns"]),
        helper.make_node("Transpose", ["columns"], ["tokens"], perm=[0, 2, 1]),
        helper.make_node("ReduceMean", ["tokens"], ["mean"], axes=[-1]),
        helper.make_node("Sub", ["tokens", "mean"], ["centred"]),
        helper.make_node("Pow", ["centred", "two"], ["squares"]),
        helper.make_node("ReduceMean", ["squares"], ["variance"], axes=[-1]),
        helper.make_node("Add", ["variance", "eps"], ["safe"]),
        helper.make_node("Sqrt", ["safe"], ["deviation"]),
        helper.make_node("Div", ["centred", "deviation"], ["white"]),
        helper.make_node("Mul", ["white", "gain"], ["gained"]),
        helper.make_node("Add", ["gained", "shift"], ["normed"]),
        *quantised("normed", "up", weights, constants, "raised"),
        helper.make_node("Add", ["bias", "raised"], ["inner"]),
        helper.make_node("Mul", ["inner", "slope"], ["steep"]),
        helper.make_node("Sigmoid", ["steep"], ["gate"]),
        helper.make_node("Mul", ["inner", "gate"], ["active"]),
        *quantised("active", "down", weights, constants, "lowered"),
        helper.make_node("ReduceMean", ["lowered"], ["pooled"], axes=[1], keepdims=0),
        *quantised("pooled", "out", weights, constants, "image_embeds"),
    ]
    outputs = [("image_embeds", ["batch", DIM]), ("lowered", ["batch", TOKENS, WIDTH])]
    graph = helper.make_graph(
        nodes,
        "tiny tower",
        [helper.make_tensor_value_info("pixel_values", TensorProto.FLOAT, ["batch", 3, SIZE, SIZE])],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in outputs],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=7)
    onnx.checker.check_model(model)
    onnx.save(model, path)


def quantised(x: str, name: str, weights: dict[str, np.ndarray], constants: dict[str, np.ndarray], y: str) -> list[Any]:
    """The nodes of `x @ weights[name]` as dynamic quantisation writes them; their tensors go to `constants`."""
    codes, steps = eight_bit(weights[name])
    constants |= {f"{name}_quantized": codes, f"{name}_scale": steps, f"{name}_zero": np.zeros(len(steps), np.int8)}
    return [
        helper.make_node("DynamicQuantizeLinear", [x], [f"{x}_codes", f"{x}_step", f"{x}_zero"]),
        helper.make_node("Mul", [f"{x}_step", f"{name}_scale"], [f"{name}_steps"]),
        helper.make_node("MatMulInteger", [f"{x}_codes", f"{name}_quantized", f"{x}_zero", f"{name}_zero"], [f"{y}_i"]),
        helper.make_node("Cast", [f"{y}_i"], [f"{y}_f"], to=TensorProto.FLOAT),
        helper.make_node("Mul", [f"{y}_f", f"{name}_steps"], [y]),
    ]


def eight_bit(value: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    steps = np.abs(value).max(axis=0) / 127
    return np.round(value / steps).astype(np.int8), steps.astype(np.float32)


def naive_features(pixels: np.ndarray, weights: dict[str, np.ndarray]) -> np.ndarray:
    """Naive oracle in float64: the stored 8-bit weights times their steps, nothing else rounded."""
    up, down, out = (np.multiply(*eight_bit(weights[name]), dtype=np.float64) for name in ("up", "down", "out"))
    half = SIZE // 2
    corners = [(r, c) for r in (0, half) for c in (0, half)]
    patches = np.stack([pixels[:, :, r : r + half, c : c + half] for r, c in corners], axis=1)  # (batch, tokens, ...)
    tokens = np.einsum("btcij,wcij->btw", patches.astype(np.float64), weights["patch"].astype(np.float64))
    centred = tokens - tokens.mean(-1, keepdims=True)
    white = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + EPS)
    inner = (white * weights["gain"] + weights["shift"]) @ up + weights["bias"]
    active = inner / (1 + np.exp(-1.702 * inner))
    return (active @ down).mean(axis=1) @ out
