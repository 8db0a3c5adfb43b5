"""clip-b16: a head behind a sentence encoder, and, where its package is installed, the real tower."""

import json
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from tests.encoders.onnx.packs import DIM, config, save_vision, text_features, unit, view_features, write_pack
from viewvote import Classifier, LoadOptions, load_encoder
from viewvote.encoders.base import Encoder
from viewvote.encoders.clip_b16.encoder import HeadedEncoder, HeadedFiles, pick_precision
from viewvote.errors import CheckpointError, ModelNotFoundError, UsageError
from viewvote.files import example_photos, shipped

TURN = np.random.default_rng(5).standard_normal((DIM, DIM)).astype(np.float32)
needs_tower = pytest.mark.usefixtures("clip_b16")


def save_head(path: Path, matrix: np.ndarray) -> None:
    """A head that is one matrix."""
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["sentence_embeds", "turn"], ["text_embeds"])],
        "head",
        [helper.make_tensor_value_info("sentence_embeds", TensorProto.FLOAT, ["batch", len(matrix)])],
        [helper.make_tensor_value_info("text_embeds", TensorProto.FLOAT, ["batch", matrix.shape[1]])],
        [numpy_helper.from_array(matrix, "turn")],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), path)


def headed(folder: Path, matrix: np.ndarray = TURN) -> HeadedEncoder:
    """A head on the sentence vectors of a tiny pack (the negated mean embeddings), and that pack's own tower."""
    sentences = write_pack(folder / "sentences")
    save_head(folder / "head.onnx", matrix)
    save_vision(folder / "vision.onnx")
    (folder / "viewvote.json").write_text(json.dumps(config(name="headed", scale=100.0, bias=0.0)))
    files = HeadedFiles.of(folder, vision=folder / "vision.onnx", sentences=sentences)
    return HeadedEncoder(files, model_id="headed", options=LoadOptions(threads=1))


def test_texts_are_sentence_vectors_through_the_head(tmp_path: Path) -> None:
    encoder = headed(tmp_path)
    assert isinstance(encoder, Encoder)
    found = encoder.encode_texts(["a dog", "photo of cat"])
    sentences = np.stack([-text_features([1, 4, 7, 2]), -text_features([1, 5, 6, 8, 2])])
    np.testing.assert_allclose(found, unit(sentences @ TURN.astype(np.float64)), atol=1e-5)
    views = np.random.default_rng(0).integers(0, 256, (2, 8, 8, 3), dtype=np.uint8)
    np.testing.assert_allclose(encoder.encode_images(views), view_features(views), atol=1e-5)
    assert (encoder.logit_scale, encoder.dim) == (100.0, DIM)


def test_another_head_is_another_fingerprint(tmp_path: Path) -> None:
    first, again, other = (
        headed(tmp_path / name, matrix).fingerprint for name, matrix in (("a", TURN), ("b", TURN), ("c", -TURN))
    )
    assert first == again != other


def test_a_head_of_another_length_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"head\.onnx gives 3 numbers per item, expected dim 4"):
        headed(tmp_path, TURN[:, :3]).encode_texts(["a dog"])


def test_a_missing_head_is_named(tmp_path: Path) -> None:
    encoder = headed(tmp_path)
    (tmp_path / "head.onnx").unlink()
    with pytest.raises(ModelNotFoundError, match=r"head\.onnx"):
        encoder.encode_texts(["a dog"])


def test_the_head_is_shipped_small_and_honest() -> None:
    folder = shipped("models/clip-b16")
    assert {"head.onnx", "viewvote.json", "model-card.md"} == {path.name for path in folder.iterdir()}
    assert sum(path.stat().st_size for path in folder.iterdir()) < 8_000_000
    assert "not OpenAI's" in (folder / "model-card.md").read_text(encoding="utf-8")
    assert json.loads((folder / "viewvote.json").read_text())["scale"] == 100.0


def test_int8_unless_float32_is_asked_for() -> None:
    assert [pick_precision(LoadOptions(precision=p)) for p in ("auto", "int8", "fp32")] == ["int8", "int8", "fp32"]


@pytest.mark.skipif(find_spec("openvino") is None, reason="needs the openvino extra")
def test_openvino_runs_the_float32_tower() -> None:
    assert pick_precision(LoadOptions(runtime="openvino")) == "fp32"
    with pytest.raises(UsageError, match="ONNX Runtime only"):
        pick_precision(LoadOptions(runtime="openvino", precision="int8"))


def test_without_the_tower_the_error_says_what_fetches_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VIEWVOTE_CACHE", str(tmp_path))
    with pytest.raises(ModelNotFoundError, match="viewvote models get clip-b16"):
        load_encoder("clip-b16")


@needs_tower
def test_the_real_tower_sees_what_is_on_the_examples() -> None:
    labels = ["astronaut", "cat", "coffee cup", "rocket", "dog", "bicycle"]
    clf = Classifier("clip-b16", labels=labels, method="zero-shot", n_views=1)
    expected = {"astronaut": "astronaut", "cat": "cat", "coffee": "coffee cup", "rocket": "rocket"}
    assert {path.stem: clf(path).label for path in example_photos()} == expected


@needs_tower
def test_the_pocket_model_filters_and_clip_votes() -> None:
    clf = Classifier("pocket", labels=["cat", "dog", "rocket"], teacher="clip-b16", n_views=8)
    cat = next(path for path in example_photos() if path.stem == "cat")
    prediction = clf(cat)
    assert prediction.label == "cat"
    assert prediction.votes is not None
    assert prediction.votes.sum() == 2  # int(8 views * 0.3)
