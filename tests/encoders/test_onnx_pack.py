"""ONNX packs: features against a naive oracle, batch independence, and every way a pack can be wrong."""

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import packs
import pytest
from onnx import TensorProto, helper, numpy_helper

from viewvote.encoders import Encoder, LoadOptions, load_encoder, onnx_pack
from viewvote.encoders.onnx_pack import OnnxEncoder
from viewvote.encoders.packs.text import plan_runs
from viewvote.errors import CheckpointError, ModelNotFoundError, UsageError

needs_openvino = pytest.mark.skipif(find_spec("openvino") is None, reason="needs the openvino extra")
RUNTIMES = ["onnxruntime", pytest.param("openvino", marks=needs_openvino)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return packs.write_pack(tmp_path_factory.mktemp("packs") / "tiny")


def load(folder: Path, **options: Any) -> OnnxEncoder:
    options.setdefault("runtime", "onnxruntime")
    encoder = load_encoder(f"onnx:{folder}", LoadOptions(**options))
    assert isinstance(encoder, OnnxEncoder)
    return encoder


def random_views(count: int, size: int = packs.SIZE) -> np.ndarray:
    return np.random.default_rng(7).integers(0, 256, (count, size, size, 3), dtype=np.uint8)


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_features_are_the_unit_features_of_a_naive_oracle(folder: Path, runtime: str) -> None:
    encoder = load(folder, runtime=runtime)
    views = random_views(5)
    np.testing.assert_allclose(encoder.encode_images(views), packs.view_features(views), atol=1e-6)
    ids = [[1, 4, 5, 6, 7, 2], [1, 8, 2]]  # <start> a photo of dog <end>, <start> cat <end>
    expected = np.stack([packs.text_features(i) for i in ids])
    np.testing.assert_allclose(encoder.encode_texts(["a photo of dog", "cat"]), expected, atol=1e-6)


def test_the_encoder_says_what_viewvote_json_says(folder: Path) -> None:
    encoder = load(folder)
    assert isinstance(encoder, Encoder)
    assert (encoder.model_id, encoder.dim) == (f"onnx:{folder}", packs.DIM)
    assert (encoder.logit_scale, encoder.logit_bias, encoder.scoring) == (50.0, -1.5, "softmax")
    spec = encoder.image_spec
    assert (spec.size, spec.mean, spec.std) == (packs.SIZE, tuple(packs.MEAN), tuple(packs.STD))
    assert (spec.interpolation, spec.resize, spec.short_side) == ("bilinear", "shortest", packs.SIZE)


def test_optional_keys_are_honoured(tmp_path: Path) -> None:
    changes = {"resize": "squash", "short_side": 9, "scoring": "sigmoid", "pad_to": "max"}
    encoder = load(packs.write_pack(tmp_path / "p", **changes))
    assert (encoder.image_spec.resize, encoder.image_spec.short_side, encoder.scoring) == ("squash", 9, "sigmoid")


def test_a_long_text_is_cut_and_keeps_its_end_token(folder: Path) -> None:
    (feature,) = load(folder).encode_texts(["a photo of a dog of a cat"])
    np.testing.assert_allclose(feature, packs.text_features([1, 4, 5, 6, 4, 2]), atol=1e-6)


def test_an_empty_text_is_its_special_tokens(folder: Path) -> None:
    (feature,) = load(folder).encode_texts([""])
    np.testing.assert_allclose(feature, packs.text_features([1, 2]), atol=1e-6)


def test_pad_to_max_fills_a_graph_without_mask_with_the_padding_token(tmp_path: Path) -> None:
    encoder = load(packs.write_pack(tmp_path / "p", mask=False, pad_to="max", pad_id=3))
    np.testing.assert_allclose(encoder.encode_texts(["cat"])[0], packs.text_features([1, 8, 2, 3, 3, 3]), atol=1e-6)


def test_pad_to_max_with_a_mask_leaves_padding_out(tmp_path: Path) -> None:
    encoder = load(packs.write_pack(tmp_path / "p", pad_to="max"))
    np.testing.assert_allclose(encoder.encode_texts(["cat"])[0], packs.text_features([1, 8, 2]), atol=1e-6)


def test_nothing_in_gives_nothing_out(folder: Path) -> None:
    encoder = load(folder)
    assert encoder.encode_images(random_views(0)).shape == (0, packs.DIM)
    assert encoder.encode_texts([]).shape == (0, packs.DIM)


def test_features_are_float32_rows_of_length_one(folder: Path) -> None:
    features = load(folder).encode_images(random_views(3))
    assert features.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(features, axis=1), 1, atol=1e-6)


@pytest.mark.parametrize(
    "views",
    [random_views(2).astype(np.float32), random_views(2, size=9), random_views(2)[0]],
    ids=["float", "size", "3d"],
)
def test_views_of_another_type_or_shape_are_refused(folder: Path, views: np.ndarray) -> None:
    with pytest.raises(UsageError, match=r"wants uint8 views of shape \(views, 8, 8, 3\), got"):
        load(folder).encode_images(views)


def test_one_string_is_not_taken_for_a_list_of_letters(folder: Path) -> None:
    with pytest.raises(UsageError, match="got one string"):
        load(folder).encode_texts("dog")


# Independence of the batch


def conv_pack(folder: Path, *, dynamic: bool = False) -> Path:
    """A pack with convolutions and a wide matrix product, where kernels have something to reorder."""
    packs.write_pack(folder, size=32, dim=64)
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


@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("dynamic", [False, True], ids=["fp32", "dynamic int8"])
def test_a_view_has_the_same_bits_in_any_batch_order_and_number_of_threads(
    tmp_path: Path, runtime: str, dynamic: bool
) -> None:
    folder = conv_pack(tmp_path / "p", dynamic=dynamic)
    encoder = load(folder, runtime=runtime, threads=2)
    views = random_views(33, size=32)
    views[5] //= 8  # a dark view and a saturated one widen the range of a batch
    views[6] = 255
    together = encoder.encode_images(views)
    alone = np.concatenate([encoder.encode_images(view[None]) for view in views])
    order = np.random.default_rng(0).permutation(len(views))
    assert together.tobytes() == alone.tobytes()
    assert encoder.encode_images(views[order]).tobytes() == together[order].tobytes()
    assert load(folder, runtime=runtime, threads=1).encode_images(views).tobytes() == together.tobytes()


def deep_text_pack(folder: Path) -> Path:
    """A pack whose text features go through a wide matrix product: one row of it is rounded otherwise than many."""
    packs.write_pack(folder, context_length=40)
    rng = np.random.default_rng(4)
    weights = {
        "table": rng.standard_normal((len(packs.WORDS), 384)),
        "wide": rng.standard_normal((384, 512)),
        "narrow": rng.standard_normal((512, packs.DIM)),
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
        [helper.make_tensor_value_info("text_embeds", TensorProto.FLOAT, ["batch", packs.DIM])],
        [*constants, numpy_helper.from_array(np.array([1]), "one")],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), folder / "text.onnx")
    return folder


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_a_text_has_the_same_bits_whatever_texts_are_beside_it(tmp_path: Path, runtime: str) -> None:
    encoder = load(deep_text_pack(tmp_path / "p"), runtime=runtime)
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(["dog", "cat", "a"], length)) for length in rng.integers(0, 38, 60)]
    together = encoder.encode_texts(texts)
    assert together.tobytes() == np.concatenate([encoder.encode_texts([text]) for text in texts]).tobytes()
    assert encoder.encode_texts(texts[::-1]).tobytes() == together[::-1].tobytes()


def test_runs_have_a_shape_that_follows_from_the_length_alone() -> None:
    lengths = [3] * 10 + [5] + [40, 40]
    encoded = [(np.full((1, n), i), np.ones((1, n), dtype=np.int64)) for i, n in enumerate(lengths)]
    runs = plan_runs(encoded, alone=False)
    assert [run.ids.shape for run in runs] == [(8, 3), (8, 3), (8, 5), (1, 40), (1, 40)]
    assert [run.indices for run in runs] == [[0, 1, 2, 3, 4, 5, 6, 7], [8, 9], [10], [11], [12]]
    assert runs[1].ids[:, 0].tolist() == [8, 9, 9, 9, 9, 9, 9, 9]
    assert {run.ids.shape[0] for run in plan_runs(encoded, alone=True)} == {1}


def test_texts_run_alone_where_int8_ranges_are_measured_over_the_batch(tmp_path: Path) -> None:
    from onnxruntime.quantization import QuantType, quantize_dynamic

    folder = deep_text_pack(tmp_path / "p")
    assert not load(folder)._text.has_dynamic_ranges
    (folder / "text.onnx").rename(tmp_path / "source.onnx")
    quantize_dynamic(tmp_path / "source.onnx", folder / "text.onnx", weight_type=QuantType.QInt8)
    encoder = load(folder)
    assert encoder._text.has_dynamic_ranges
    texts = ["dog", "cat", "a"]
    together = encoder.encode_texts(texts)
    assert together.tobytes() == np.concatenate([encoder.encode_texts([text]) for text in texts]).tobytes()


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_several_threads_may_encode_at_once(folder: Path, runtime: str) -> None:
    encoder = load(folder, runtime=runtime, threads=2)
    views = random_views(6)
    expected = encoder.encode_images(views).tobytes()
    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(lambda _: encoder.encode_images(views).tobytes(), range(12))) == {expected}


# Which vision tower


def test_auto_takes_the_int8_tower_and_fp32_the_other(tmp_path: Path) -> None:
    folder = packs.write_pack(tmp_path / "p")
    packs.save_vision(folder / "vision.int8.onnx", bias=100.0)
    assert load(folder).files.vision.name == "vision.int8.onnx"
    assert load(folder, precision="int8").files.vision.name == "vision.int8.onnx"
    assert load(folder, precision="fp32").files.vision.name == "vision.onnx"


def test_asking_for_an_int8_tower_that_is_not_there_says_so(folder: Path) -> None:
    with pytest.raises(ModelNotFoundError, match=r"no vision tower for precision 'int8'; expected vision\.int8\.onnx"):
        load(folder, precision="int8")


def test_a_pack_may_hold_the_int8_tower_only(tmp_path: Path) -> None:
    folder = packs.write_pack(tmp_path / "p")
    (folder / "vision.onnx").rename(folder / "vision.int8.onnx")
    assert load(folder).files.vision.name == "vision.int8.onnx"


# Fingerprint


def test_the_fingerprint_follows_what_decides_text_features(tmp_path: Path) -> None:
    def fingerprint(folder: str, **changes: Any) -> str:
        return load(packs.write_pack(tmp_path / folder, **changes)).fingerprint

    base = fingerprint("a")
    assert fingerprint("b") == base
    assert fingerprint("c", name="renamed") == base
    others = [fingerprint("d", mask=False), fingerprint("e", pad_id=3), fingerprint("f", context_length=5)]
    others.append(fingerprint("g", scale=51.0))
    tokenizer = packs.write_pack(tmp_path / "h") / "tokenizer.json"
    tokenizer.write_text(tokenizer.read_text().replace("dog", "hog"))
    others.append(load(tokenizer.parent).fingerprint)
    assert len({base, *others}) == len(others) + 1


@needs_openvino
def test_the_fingerprint_names_the_runtime_whose_bits_differ(folder: Path) -> None:
    assert load(folder, runtime="openvino").fingerprint != load(folder).fingerprint


def test_the_fingerprint_of_a_huge_file_is_read_from_blocks_all_over_it(tmp_path: Path) -> None:
    path = tmp_path / "huge"
    with path.open("wb") as file:
        file.truncate(200 * 2**20)  # sparse
    before = onnx_pack._blocks(path)
    with path.open("r+b") as file:
        file.seek(100 * 2**20)
        file.write(bytes(range(256)) * 2**14)  # 4 MB in the middle
    assert onnx_pack._blocks(path) != before
    assert sum(map(len, before)) < 2**27


# What can be wrong with a pack


@pytest.mark.parametrize("key", sorted(set(packs.config()) - {"format"}))
def test_a_missing_key_is_named(tmp_path: Path, key: str) -> None:
    with pytest.raises(CheckpointError, match=rf"viewvote\.json: '{key}' is missing, expected"):
        load(packs.write_pack(tmp_path / "p", **{key: ...}))


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
        load(packs.write_pack(tmp_path / "p", **{key: value}))


@pytest.mark.parametrize("changes", [{"std": [0.2, 0.0, 0.2]}, {"short_side": 4}], ids=["zero std", "short side"])
def test_values_that_make_no_image_spec_are_a_checkpoint_error(tmp_path: Path, changes: dict[str, Any]) -> None:
    with pytest.raises(CheckpointError, match=r"viewvote\.json: "):
        load(packs.write_pack(tmp_path / "p", **changes))


def test_another_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="format is 'viewvote-pack-9', expected 'viewvote-pack-1'"):
        load(packs.write_pack(tmp_path / "p", format="viewvote-pack-9"))


@pytest.mark.parametrize("content", ["{", "[1]"], ids=["broken", "list"])
def test_a_configuration_that_is_no_json_object_is_refused(tmp_path: Path, content: str) -> None:
    folder = packs.write_pack(tmp_path / "p")
    (folder / "viewvote.json").write_text(content)
    with pytest.raises(CheckpointError, match=r"viewvote\.json (is not valid JSON|must hold a JSON object)"):
        load(folder)


@pytest.mark.parametrize("file", ["viewvote.json", "text.onnx", "tokenizer.json"])
def test_a_missing_file_is_named(tmp_path: Path, file: str) -> None:
    folder = packs.write_pack(tmp_path / "p")
    (folder / file).unlink()
    with pytest.raises(ModelNotFoundError, match=rf"{file} is missing"):
        load(folder)


def test_a_folder_without_a_model_says_what_was_expected(tmp_path: Path) -> None:
    with pytest.raises(ModelNotFoundError, match=r"is not a model: expected a pack \(vision\.onnx.*onnx/vision_model"):
        load(tmp_path)


@pytest.mark.parametrize("rest", ["/no/such/folder", "./nothing", "nothing"])
def test_a_path_that_does_not_exist_is_not_looked_up_on_the_hub(rest: str) -> None:
    with pytest.raises(ModelNotFoundError, match="no folder"):
        load_encoder(f"onnx:{rest}")


def test_a_dim_that_the_vision_graph_does_not_have_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"vision\.onnx gives 4 numbers per item, expected dim 5"):
        load(packs.write_pack(tmp_path / "p", dim=5))


def test_a_text_graph_of_another_dim_is_refused(tmp_path: Path) -> None:
    folder = conv_pack(tmp_path / "p")
    with pytest.raises(CheckpointError, match=r"text\.onnx gives 4 numbers per item, expected dim 64"):
        load(folder).encode_texts(["dog"])


def test_a_graph_of_another_image_size_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"pixels of shape \(None, 3, 8, 8\), expected \(batch, 3, 9, 9\)"):
        load(packs.write_pack(tmp_path / "p", size=9))


def test_a_graph_for_batches_of_two_is_refused_and_one_for_single_views_runs(tmp_path: Path) -> None:
    folder = packs.write_pack(tmp_path / "p")
    packs.save_vision(folder / "vision.onnx", batch=2)
    with pytest.raises(CheckpointError, match="takes batches of 2 only"):
        load(folder)
    packs.save_vision(folder / "vision.onnx", batch=1)
    views = random_views(3)
    np.testing.assert_allclose(load(folder).encode_images(views), packs.view_features(views), atol=1e-6)


def test_graphs_with_other_names_are_refused(tmp_path: Path) -> None:
    folder = packs.write_pack(tmp_path / "p")
    packs.save_vision(folder / "vision.onnx", output="embedding")
    with pytest.raises(CheckpointError, match="has outputs embedding, expected image_embeds"):
        load(folder)
    shutil.copy(folder / "text.onnx", folder / "vision.onnx")
    with pytest.raises(CheckpointError, match="has inputs attention_mask, input_ids, expected pixel_values"):
        load(folder)


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_a_file_that_is_no_graph_is_refused(tmp_path: Path, runtime: str) -> None:
    folder = packs.write_pack(tmp_path / "p")
    (folder / "vision.onnx").write_bytes(b"not a graph")
    with pytest.raises(CheckpointError, match=r"vision\.onnx is not a graph that"):
        load(folder, runtime=runtime)


def test_a_file_that_is_no_tokenizer_is_refused(tmp_path: Path) -> None:
    folder = packs.write_pack(tmp_path / "p")
    (folder / "tokenizer.json").write_text(json.dumps({"model": "none"}))
    with pytest.raises(CheckpointError, match=r"tokenizer\.json is not a tokenizer"):
        load(folder).encode_texts(["dog"])
