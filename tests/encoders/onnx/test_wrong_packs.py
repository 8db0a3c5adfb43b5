"""Every way an ONNX pack can be wrong, and what is said of it."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.encoders.onnx import packs
from viewvote.encoders import load_encoder
from viewvote.errors import CheckpointError, ModelNotFoundError


def random_views(count: int, size: int = packs.SIZE) -> np.ndarray:
    return np.random.default_rng(7).integers(0, 256, (count, size, size, 3), dtype=np.uint8)


@pytest.mark.parametrize("key", sorted(set(packs.config()) - {"format"}))
def test_a_missing_key_is_named(tmp_path: Path, key: str) -> None:
    with pytest.raises(CheckpointError, match=rf"viewvote\.json: '{key}' is missing, expected"):
        packs.load(packs.write_pack(tmp_path / "p", **{key: ...}))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("size", "8"),
        ("size", True),
        ("size", 0),
        ("mean", [0.5, 0.5]),
        ("mean", "grey"),
        ("std", [1, 1, None]),
        ("interpolation", "cubic"),
        ("resize", "crop"),
        ("scale", 0),
        ("scale", "100"),
        ("bias", None),
        ("context_length", 7.5),
        ("dim", -4),
        ("pad_id", -1),
        ("name", ""),
        ("scoring", "argmax"),
        ("pad_to", "left"),
    ],
)
def test_an_ill_typed_value_is_named_with_what_was_expected(tmp_path: Path, key: str, value: Any) -> None:
    with pytest.raises(CheckpointError, match=rf"'{key}' is .*, expected"):
        packs.load(packs.write_pack(tmp_path / "p", **{key: value}))


@pytest.mark.parametrize("changes", [{"std": [0.2, 0.0, 0.2]}, {"short_side": 4}], ids=["zero std", "short side"])
def test_values_that_make_no_image_spec_are_a_checkpoint_error(tmp_path: Path, changes: dict[str, Any]) -> None:
    with pytest.raises(CheckpointError, match=r"viewvote\.json: "):
        packs.load(packs.write_pack(tmp_path / "p", **changes))


def test_another_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="format is 'viewvote-pack-9', expected 'viewvote-pack-1'"):
        packs.load(packs.write_pack(tmp_path / "p", format="viewvote-pack-9"))


@pytest.mark.parametrize("content", ["{", "[1]"], ids=["broken", "list"])
def test_a_configuration_that_is_no_json_object_is_refused(tmp_path: Path, content: str) -> None:
    folder = packs.write_pack(tmp_path / "p")
    (folder / "viewvote.json").write_text(content)
    with pytest.raises(CheckpointError, match=r"viewvote\.json (is not valid JSON|must hold a JSON object)"):
        packs.load(folder)


@pytest.mark.parametrize("file", ["viewvote.json", "text.onnx", "tokenizer.json"])
def test_a_missing_file_is_named(tmp_path: Path, file: str) -> None:
    folder = packs.write_pack(tmp_path / "p")
    (folder / file).unlink()
    with pytest.raises(ModelNotFoundError, match=rf"{file} is missing"):
        packs.load(folder)


def test_a_folder_without_a_model_says_what_was_expected(tmp_path: Path) -> None:
    with pytest.raises(ModelNotFoundError, match=r"is not a model: expected a pack \(vision\.onnx.*onnx/vision_model"):
        packs.load(tmp_path)


@pytest.mark.parametrize("rest", ["/no/such/folder", "./nothing", "nothing"])
def test_a_path_that_does_not_exist_is_not_looked_up_on_the_hub(rest: str) -> None:
    with pytest.raises(ModelNotFoundError, match="no folder"):
        load_encoder(f"onnx:{rest}")


def test_a_dim_that_the_vision_graph_does_not_have_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"vision\.onnx gives 4 numbers per item, expected dim 5"):
        packs.load(packs.write_pack(tmp_path / "p", dim=5))


def test_a_text_graph_of_another_dim_is_refused(tmp_path: Path) -> None:
    folder = packs.conv_pack(tmp_path / "p")
    with pytest.raises(CheckpointError, match=r"text\.onnx gives 4 numbers per item, expected dim 64"):
        packs.load(folder).encode_texts(["dog"])


def test_a_graph_of_another_image_size_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"pixels of shape \(None, 3, 8, 8\), expected \(batch, 3, 9, 9\)"):
        packs.load(packs.write_pack(tmp_path / "p", size=9))


def test_a_graph_for_batches_of_two_is_refused_and_one_for_single_views_runs(tmp_path: Path) -> None:
    folder = packs.write_pack(tmp_path / "p")
    packs.save_vision(folder / "vision.onnx", batch=2)
    with pytest.raises(CheckpointError, match="takes batches of 2 only"):
        packs.load(folder)
    packs.save_vision(folder / "vision.onnx", batch=1)
    views = random_views(3)
    np.testing.assert_allclose(packs.load(folder).encode_images(views), packs.view_features(views), atol=1e-6)


def test_graphs_with_other_names_are_refused(tmp_path: Path) -> None:
    folder = packs.write_pack(tmp_path / "p")
    packs.save_vision(folder / "vision.onnx", output="embedding")
    with pytest.raises(CheckpointError, match="has outputs embedding, expected image_embeds"):
        packs.load(folder)
    shutil.copy(folder / "text.onnx", folder / "vision.onnx")
    with pytest.raises(CheckpointError, match="has inputs attention_mask, input_ids, expected pixel_values"):
        packs.load(folder)


@pytest.mark.parametrize("runtime", packs.RUNTIMES)
def test_a_file_that_is_no_graph_is_refused(tmp_path: Path, runtime: str) -> None:
    folder = packs.write_pack(tmp_path / "p")
    (folder / "vision.onnx").write_bytes(b"not a graph")
    with pytest.raises(CheckpointError, match=r"vision\.onnx is not a graph that"):
        packs.load(folder, runtime=runtime)


def test_a_file_that_is_no_tokenizer_is_refused(tmp_path: Path) -> None:
    folder = packs.write_pack(tmp_path / "p")
    (folder / "tokenizer.json").write_text(json.dumps({"model": "none"}))
    with pytest.raises(CheckpointError, match=r"tokenizer\.json is not a tokenizer"):
        packs.load(folder).encode_texts(["dog"])


@pytest.mark.parametrize("graph", ["vision.onnx", "text.onnx"])
def test_a_damaged_graph_is_refused_and_nothing_is_printed(tmp_path: Path, graph: str, capfd: Any) -> None:
    folder = packs.write_pack(tmp_path / "p")
    whole = (folder / graph).read_bytes()
    name = whole.index(b"image_embeds" if graph == "vision.onnx" else b"text_embeds")
    for damaged in (whole[:40], whole[:name] + b"\xff" + whole[name + 1 :], b""):
        (folder / graph).write_bytes(damaged)
        with pytest.raises(CheckpointError, match=rf"{graph.replace('.', '[.]')} "):
            packs.load(folder).encode_texts(["dog"])
    assert capfd.readouterr().out == ""


def test_a_tokenizer_without_a_word_for_unknown_ones_names_the_text(tmp_path: Path) -> None:
    folder = packs.write_pack(tmp_path / "p")
    data = json.loads((folder / "tokenizer.json").read_text())
    del data["model"]["vocab"]["<unk>"]
    (folder / "tokenizer.json").write_text(json.dumps(data))
    assert packs.load(folder).encode_texts(["dog"]).shape == (1, packs.DIM)
    with pytest.raises(CheckpointError, match=r"tokenizer\.json cannot encode 'zebra'"):
        packs.load(folder).encode_texts(["zebra"])


def test_sizes_that_no_model_has_are_refused_before_memory_is_asked_for(tmp_path: Path) -> None:
    for key in ("size", "context_length", "dim"):
        with pytest.raises(CheckpointError, match=rf"'{key}' is 1000000000, expected a whole number from 1 to"):
            packs.load(packs.write_pack(tmp_path / key, **{key: 10**9}))


def test_a_dimension_whose_name_is_no_text_is_a_checkpoint_error(tmp_path: Path) -> None:
    folder = packs.write_pack(tmp_path / "p")
    graph = (folder / "vision.onnx").read_bytes()
    assert b"batch" in graph
    (folder / "vision.onnx").write_bytes(graph.replace(b"batch", b"b\x9atch"))
    with pytest.raises(CheckpointError, match=r"vision\.onnx is not a graph"):
        packs.load(folder)
