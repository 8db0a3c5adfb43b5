"""ONNX files without the `onnx` package, which is here the oracle."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from tests.encoders.clip_b16.tiny_tower import make_weights, save_tower
from viewvote.encoders.clip_b16.graph_file import from_array, make_node, read_graph_file, to_array
from viewvote.errors import CheckpointError


def test_a_graph_that_is_read_and_written_is_the_same(tmp_path: Path) -> None:
    save_tower(tmp_path / "tower.onnx", make_weights())
    again = onnx.load_from_string(read_graph_file(tmp_path / "tower.onnx").SerializeToString())
    assert again == onnx.load(tmp_path / "tower.onnx")


@pytest.mark.parametrize("dtype", [np.float32, np.uint8, np.int8, np.int32, np.int64])
@pytest.mark.parametrize("raw", [True, False])
def test_tensors_are_read_as_onnx_reads_them(tmp_path: Path, dtype: type, raw: bool) -> None:
    values = np.array([[1, 0, 3], [4, 5, 100]], dtype)
    kind = helper.np_dtype_to_tensor_dtype(values.dtype)
    content = values.tobytes() if raw else values.ravel().tolist()
    tensor = helper.make_tensor("t", kind, values.shape, content, raw=raw)
    graph = helper.make_graph([], "g", [], [], [tensor])
    onnx.save(helper.make_model(graph), tmp_path / "g.onnx")
    found = to_array(read_graph_file(tmp_path / "g.onnx").graph.initializer[0])
    np.testing.assert_array_equal(found, values)
    assert found.dtype == dtype


@pytest.mark.parametrize("value", [np.float32([[1, 2]]), np.uint8([3]), np.int64([-1, 4]), np.int8([[-7]])])
def test_tensors_are_written_as_onnx_writes_them(value: np.ndarray) -> None:
    ours, theirs = from_array(value, "x"), numpy_helper.from_array(value, "x")
    assert ours.SerializeToString() == theirs.SerializeToString()


def test_nodes_are_written_as_onnx_writes_them() -> None:
    ours = make_node("ReduceMax", ["a"], "b", axes=[-1], keepdims=1)
    theirs = helper.make_node("ReduceMax", ["a"], ["b"], axes=[-1], keepdims=1)
    assert ours.SerializeToString() == theirs.SerializeToString()


def test_a_file_that_is_no_graph_is_named(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("<!doctype html>")
    with pytest.raises(CheckpointError, match=r"page\.html is not an ONNX graph"):
        read_graph_file(tmp_path / "page.html")
