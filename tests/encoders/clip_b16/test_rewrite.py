"""The rewritten tower: right, the same for every company of views, and out of reach of 16-bit saturation."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from tests.encoders.clip_b16.tiny_tower import make_weights, naive_features, save_tower
from tests.encoders.onnx.packs import SIZE, unit
from viewvote.encoders.clip_b16.rewrite import LEVELS, rewrite
from viewvote.encoders.onnx.runtimes import open_session


@pytest.fixture(scope="module")
def packaged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tower") / "clip_encoder.int8.onnx"
    save_tower(path, make_weights())
    return path


def pixels(n: int, *, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, 3, SIZE, SIZE)).astype(np.float32)


def run(path: Path, views: np.ndarray) -> np.ndarray:
    return open_session(path).run({"pixel_values": views}, output="image_embeds")


def rewritten(packaged: Path, folder: Path, precision: str) -> Path:
    path = folder / f"{precision}.onnx"
    path.write_bytes(rewrite(packaged, precision=precision))
    return path


def test_the_exact_graph_computes_with_the_packaged_weights_in_float32(packaged: Path, tmp_path: Path) -> None:
    found = run(rewritten(packaged, tmp_path, "fp32"), pixels(6))
    expected = naive_features(pixels(6), make_weights())
    np.testing.assert_allclose(found, expected, rtol=2e-4, atol=2e-4 * np.abs(expected).max())


def test_the_int8_graph_stays_close_to_the_exact_one(packaged: Path, tmp_path: Path) -> None:
    views = pixels(50)
    found, expected = run(rewritten(packaged, tmp_path, "int8"), views), naive_features(views, make_weights())
    assert (unit(found) * unit(expected)).sum(axis=1).min() > 0.995


def test_a_view_does_not_depend_on_its_company(packaged: Path, tmp_path: Path) -> None:
    together = pixels(8)
    int8 = rewritten(packaged, tmp_path, "int8")
    np.testing.assert_array_equal(run(int8, together)[:1], run(int8, together[:1]))
    assert not np.array_equal(run(packaged, together)[:1], run(packaged, together[:1]))  # what the packaged one does


def test_no_pair_of_products_can_leave_sixteen_bits(packaged: Path, tmp_path: Path) -> None:
    graph = onnx.load(rewritten(packaged, tmp_path, "int8")).graph
    tensors = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    products = [node for node in graph.node if node.op_type == "MatMulInteger"]
    weights = [tensors[node.input[1]].astype(int) for node in products]
    assert [w.shape for w in weights] == [(16, 32), (32, 16), (16, 4)]
    assert all(2 * LEVELS * np.abs(w).max() < 2**15 for w in weights)
    assert all(np.abs(w).max(axis=0).min() == 63 for w in weights)  # and every column uses all of its seven bits


def test_only_what_is_used_is_kept(packaged: Path, tmp_path: Path) -> None:
    for precision in ("int8", "fp32"):
        graph = onnx.load(rewritten(packaged, tmp_path, precision)).graph
        read = {name for node in graph.node for name in node.input}
        assert {tensor.name for tensor in graph.initializer} <= read
        assert [output.name for output in graph.output] == ["image_embeds"]
        assert "DynamicQuantizeLinear" not in {node.op_type for node in graph.node}


def test_a_dominant_channel_is_moved_into_the_weights(packaged: Path, tmp_path: Path) -> None:
    """Without smoothing the channel with twenty times the gain sets the step of every token."""
    graph = onnx.load(rewritten(packaged, tmp_path, "int8")).graph
    gain = next(numpy_helper.to_array(tensor) for tensor in graph.initializer if tensor.name == "gain")
    before = make_weights()["gain"]
    assert np.abs(before).max() / np.median(np.abs(before)) > 15
    assert np.abs(gain).max() / np.median(np.abs(gain)) < 8


def test_a_blank_view_has_finite_features(packaged: Path, tmp_path: Path) -> None:
    blank = np.zeros((1, 3, SIZE, SIZE), np.float32)
    assert np.isfinite(run(rewritten(packaged, tmp_path, "int8"), blank)).all()
