"""ONNX packs: features against a naive oracle, batch independence, and what names their features."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.encoders.onnx import packs
from viewvote.encoders import Encoder
from viewvote.encoders.onnx import encoder as onnx_pack
from viewvote.encoders.onnx.text import plan_runs
from viewvote.errors import ModelNotFoundError, UsageError


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return packs.write_pack(tmp_path_factory.mktemp("packs") / "tiny")


def random_views(count: int, size: int = packs.SIZE) -> np.ndarray:
    return np.random.default_rng(7).integers(0, 256, (count, size, size, 3), dtype=np.uint8)


@pytest.mark.parametrize("runtime", packs.RUNTIMES)
def test_features_are_the_unit_features_of_a_naive_oracle(folder: Path, runtime: str) -> None:
    encoder = packs.load(folder, runtime=runtime)
    views = random_views(5)
    np.testing.assert_allclose(encoder.encode_images(views), packs.view_features(views), atol=1e-6)
    ids = [[1, 4, 5, 6, 7, 2], [1, 8, 2]]  # <start> a photo of dog <end>, <start> cat <end>
    expected = np.stack([packs.text_features(i) for i in ids])
    np.testing.assert_allclose(encoder.encode_texts(["a photo of dog", "cat"]), expected, atol=1e-6)


def test_the_encoder_says_what_viewvote_json_says(folder: Path) -> None:
    encoder = packs.load(folder)
    assert isinstance(encoder, Encoder)
    assert (encoder.model_id, encoder.dim) == (f"onnx:{folder}", packs.DIM)
    assert (encoder.logit_scale, encoder.logit_bias, encoder.scoring) == (50.0, -1.5, "softmax")
    spec = encoder.image_spec
    assert (spec.size, spec.mean, spec.std) == (packs.SIZE, tuple(packs.MEAN), tuple(packs.STD))
    assert (spec.interpolation, spec.resize, spec.short_side) == ("bilinear", "shortest", packs.SIZE)


def test_optional_keys_are_honoured(tmp_path: Path) -> None:
    changes = {"resize": "squash", "short_side": 9, "scoring": "sigmoid", "pad_to": "max"}
    encoder = packs.load(packs.write_pack(tmp_path / "p", **changes))
    assert (encoder.image_spec.resize, encoder.image_spec.short_side, encoder.scoring) == ("squash", 9, "sigmoid")


def test_a_long_text_is_cut_and_keeps_its_end_token(folder: Path) -> None:
    (feature,) = packs.load(folder).encode_texts(["a photo of a dog of a cat"])
    np.testing.assert_allclose(feature, packs.text_features([1, 4, 5, 6, 4, 2]), atol=1e-6)


def test_an_empty_text_is_its_special_tokens(folder: Path) -> None:
    (feature,) = packs.load(folder).encode_texts([""])
    np.testing.assert_allclose(feature, packs.text_features([1, 2]), atol=1e-6)


def test_pad_to_max_fills_a_graph_without_mask_with_the_padding_token(tmp_path: Path) -> None:
    encoder = packs.load(packs.write_pack(tmp_path / "p", mask=False, pad_to="max", pad_id=3))
    np.testing.assert_allclose(encoder.encode_texts(["cat"])[0], packs.text_features([1, 8, 2, 3, 3, 3]), atol=1e-6)


def test_pad_to_max_with_a_mask_leaves_padding_out(tmp_path: Path) -> None:
    encoder = packs.load(packs.write_pack(tmp_path / "p", pad_to="max"))
    np.testing.assert_allclose(encoder.encode_texts(["cat"])[0], packs.text_features([1, 8, 2]), atol=1e-6)


def test_nothing_in_gives_nothing_out(folder: Path) -> None:
    encoder = packs.load(folder)
    assert encoder.encode_images(random_views(0)).shape == (0, packs.DIM)
    assert encoder.encode_texts([]).shape == (0, packs.DIM)


def test_features_are_float32_rows_of_length_one(folder: Path) -> None:
    features = packs.load(folder).encode_images(random_views(3))
    assert features.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(features, axis=1), 1, atol=1e-6)


@pytest.mark.parametrize(
    "views",
    [random_views(2).astype(np.float32), random_views(2, size=9), random_views(2)[0]],
    ids=["float", "size", "3d"],
)
def test_views_of_another_type_or_shape_are_refused(folder: Path, views: np.ndarray) -> None:
    with pytest.raises(UsageError, match=r"expects uint8 views of shape \(views, 8, 8, 3\); got"):
        packs.load(folder).encode_images(views)


def test_one_string_is_not_taken_for_a_list_of_letters(folder: Path) -> None:
    with pytest.raises(UsageError, match="got one string"):
        packs.load(folder).encode_texts("dog")


# Independence of the batch


@pytest.mark.parametrize("runtime", packs.RUNTIMES)
@pytest.mark.parametrize("dynamic", [False, True], ids=["fp32", "dynamic int8"])
def test_a_view_has_the_same_bits_in_any_batch_order_and_number_of_threads(
    tmp_path: Path, runtime: str, dynamic: bool
) -> None:
    folder = packs.conv_pack(tmp_path / "p", dynamic=dynamic)
    encoder = packs.load(folder, runtime=runtime, threads=2)
    views = random_views(33, size=32)
    views[5] //= 8  # a dark view and a saturated one widen the range of a batch
    views[6] = 255
    together = encoder.encode_images(views)
    alone = np.concatenate([encoder.encode_images(view[None]) for view in views])
    order = np.random.default_rng(0).permutation(len(views))
    assert together.tobytes() == alone.tobytes()
    assert encoder.encode_images(views[order]).tobytes() == together[order].tobytes()
    assert packs.load(folder, runtime=runtime, threads=1).encode_images(views).tobytes() == together.tobytes()


@pytest.mark.parametrize("runtime", packs.RUNTIMES)
def test_a_text_has_the_same_bits_whatever_texts_are_beside_it(tmp_path: Path, runtime: str) -> None:
    encoder = packs.load(packs.deep_text_pack(tmp_path / "p"), runtime=runtime)
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

    folder = packs.deep_text_pack(tmp_path / "p")
    assert not packs.load(folder)._text.has_dynamic_ranges
    (folder / "text.onnx").rename(tmp_path / "source.onnx")
    quantize_dynamic(tmp_path / "source.onnx", folder / "text.onnx", weight_type=QuantType.QInt8)
    encoder = packs.load(folder)
    assert encoder._text.has_dynamic_ranges
    texts = ["dog", "cat", "a"]
    together = encoder.encode_texts(texts)
    assert together.tobytes() == np.concatenate([encoder.encode_texts([text]) for text in texts]).tobytes()


@pytest.mark.parametrize("runtime", packs.RUNTIMES)
def test_several_threads_may_encode_at_once(folder: Path, runtime: str) -> None:
    encoder = packs.load(folder, runtime=runtime, threads=2)
    views = random_views(6)
    expected = encoder.encode_images(views).tobytes()
    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(lambda _: encoder.encode_images(views).tobytes(), range(12))) == {expected}


# Which vision tower


def test_auto_takes_the_int8_tower_and_fp32_the_other(tmp_path: Path) -> None:
    folder = packs.write_pack(tmp_path / "p")
    packs.save_vision(folder / "vision.int8.onnx", bias=100.0)
    assert packs.load(folder).files.vision.name == "vision.int8.onnx"
    assert packs.load(folder, precision="int8").files.vision.name == "vision.int8.onnx"
    assert packs.load(folder, precision="fp32").files.vision.name == "vision.onnx"


def test_asking_for_an_int8_tower_that_is_not_there_says_so(folder: Path) -> None:
    with pytest.raises(ModelNotFoundError, match=r"no vision tower for precision 'int8'; expected vision\.int8\.onnx"):
        packs.load(folder, precision="int8")


def test_a_pack_may_hold_the_int8_tower_only(tmp_path: Path) -> None:
    folder = packs.write_pack(tmp_path / "p")
    (folder / "vision.onnx").rename(folder / "vision.int8.onnx")
    assert packs.load(folder).files.vision.name == "vision.int8.onnx"


# Fingerprint


def test_the_fingerprint_follows_what_decides_text_features(tmp_path: Path) -> None:
    def fingerprint(folder: str, **changes: Any) -> str:
        return packs.load(packs.write_pack(tmp_path / folder, **changes)).fingerprint

    base = fingerprint("a")
    assert fingerprint("b") == base
    assert fingerprint("c", name="renamed") == base
    others = [fingerprint("d", mask=False), fingerprint("e", pad_id=3), fingerprint("f", context_length=5)]
    others.append(fingerprint("g", scale=51.0))
    tokenizer = packs.write_pack(tmp_path / "h") / "tokenizer.json"
    tokenizer.write_text(tokenizer.read_text().replace("dog", "hog"))
    others.append(packs.load(tokenizer.parent).fingerprint)
    assert len({base, *others}) == len(others) + 1


def test_the_vision_fingerprint_follows_what_decides_view_features(tmp_path: Path) -> None:
    def fingerprint(folder: str, **changes: Any) -> str:
        return packs.load(packs.write_pack(tmp_path / folder, **changes)).vision_fingerprint

    base = fingerprint("a")
    assert fingerprint("b", mask=False, pad_id=3, scale=51.0) == base
    folder = packs.write_pack(tmp_path / "c")
    packs.save_vision(folder / "vision.onnx", bias=0.5)
    assert len({base, packs.load(folder).vision_fingerprint, fingerprint("d", mean=[0.5, 0.5, 0.5])}) == 3


@packs.needs_openvino
def test_the_fingerprint_names_the_runtime_whose_bits_differ(folder: Path) -> None:
    assert packs.load(folder, runtime="openvino").fingerprint != packs.load(folder).fingerprint


def test_every_byte_of_a_large_file_counts(tmp_path: Path) -> None:
    path = tmp_path / "weights"
    with path.open("wb") as file:
        file.truncate(200 * 2**20)
    before = onnx_pack.digest_of("", path)
    for place in (3, 77_777_777, 200 * 2**20 - 1):
        with path.open("r+b") as file:
            file.seek(place)
            file.write(b"x")
        assert onnx_pack.digest_of("", path) != before
        before = onnx_pack.digest_of("", path)
    assert onnx_pack.digest_of("", tmp_path / "nothing") == onnx_pack.digest_of("")
