"""Which products of a vision tower become int8."""

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
onnx = pytest.importorskip("onnx")

from viewvote.encoders.export.graph import export_vision  # noqa: E402
from viewvote.encoders.export.quantise import quantise  # noqa: E402
from viewvote.encoders.onnx.runtimes import open_session  # noqa: E402


class Attention(torch.nn.Module):
    """Patches of 4 x 4 pixels that look at each other once."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.patches, self.qkv = torch.nn.Conv2d(3, 16, 4, stride=4), torch.nn.Linear(16, 48)
        self.head = torch.nn.Linear(16, 8)

    def forward(self, pixels: torch.Tensor) -> torch.Tensor:
        query, key, value = self.qkv(self.patches(pixels).flatten(2).transpose(1, 2)).chunk(3, dim=-1)
        return self.head((query @ key.transpose(1, 2)).softmax(dim=-1) @ value).mean(dim=1)


@pytest.fixture
def graphs(tmp_path: Path) -> tuple[Path, Path]:
    export_vision(Attention(), tmp_path / "vision.onnx", size=16)
    rng = np.random.default_rng(0)
    pixels = [rng.standard_normal((1, 3, 16, 16)).astype(np.float32) for _ in range(8)]
    quantise(tmp_path / "vision.onnx", tmp_path / "int8.onnx", pixels=pixels)
    return tmp_path / "vision.onnx", tmp_path / "int8.onnx"


def test_products_with_weights_become_int8_and_those_of_attention_stay_float(graphs):
    graph = onnx.load(graphs[1]).graph
    made_by = {name: node.op_type for node in graph.node for name in node.output}
    rounded = [
        sum(made_by.get(name) == "DequantizeLinear" for name in node.input[:2])
        for node in graph.node
        if node.op_type in ("MatMul", "Gemm", "Conv")
    ]
    assert sorted(rounded) == [0, 0, 0, 2, 2]  # query x key, weights x value and the last projection; patches and qkv


def test_what_the_products_of_a_transformer_give_is_not_rounded_again(graphs):
    graph = onnx.load(graphs[1]).graph
    given = {name for node in graph.node if node.op_type in ("MatMul", "Gemm") for name in node.output}
    assert not [node for node in graph.node if node.op_type == "QuantizeLinear" and node.input[0] in given]


def test_the_int8_tower_gives_nearly_the_same_features(graphs):
    pixels = np.random.default_rng(9).standard_normal((1, 3, 16, 16)).astype(np.float32)
    exact, rounded = (open_session(path).run({"pixel_values": pixels}, output="image_embeds") for path in graphs)
    assert not np.array_equal(exact, rounded)
    np.testing.assert_allclose(rounded, exact, atol=0.1 * np.abs(exact).max())
