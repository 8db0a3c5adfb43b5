"""The common hub layout of ONNX CLIP repositories, read from a folder."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.encoders.onnx import packs
from viewvote.encoders import LoadOptions, load_encoder
from viewvote.encoders.onnx.encoder import OnnxEncoder
from viewvote.encoders.torch.hf_images import image_spec
from viewvote.errors import CheckpointError, ModelNotFoundError

CLIP = {"model_type": "clip", "logit_scale_init_value": 2.6592, "text_config": {"max_position_embeddings": 6}}
SIGLIP = {"model_type": "siglip", "text_config": {"max_position_embeddings": 6}}
CLIP_IMAGES = {
    "size": {"shortest_edge": packs.SIZE},
    "crop_size": {"height": packs.SIZE, "width": packs.SIZE},
    "do_center_crop": True,
    "image_mean": packs.MEAN,
    "image_std": packs.STD,
    "resample": 3,
}
SIGLIP_IMAGES = {
    "size": {"height": packs.SIZE, "width": packs.SIZE},
    "image_mean": [0.5, 0.5, 0.5],
    "image_std": [0.5, 0.5, 0.5],
    "resample": 2,
}


def load(folder: Path, **options: Any) -> OnnxEncoder:
    encoder = load_encoder(f"onnx:{folder}", LoadOptions(runtime="onnxruntime", **options))
    assert isinstance(encoder, OnnxEncoder)
    return encoder


def clip_layout(folder: Path, **images: Any) -> Path:
    return packs.write_layout(folder, config=CLIP, preprocessor=CLIP_IMAGES | images)


def siglip_layout(folder: Path) -> Path:
    return packs.write_layout(folder, config=SIGLIP, preprocessor=SIGLIP_IMAGES, output="pooler_output")


def test_a_clip_layout_gives_the_features_of_its_graphs(tmp_path: Path) -> None:
    encoder = load(clip_layout(tmp_path / "p"))
    views = np.random.default_rng(0).integers(0, 256, (3, packs.SIZE, packs.SIZE, 3), dtype=np.uint8)
    np.testing.assert_allclose(encoder.encode_images(views), packs.view_features(views), atol=1e-6)
    np.testing.assert_allclose(encoder.encode_texts(["dog"])[0], packs.text_features([1, 7, 2]), atol=1e-6)
    assert (encoder.dim, encoder.logit_scale, encoder.logit_bias, encoder.scoring) == (packs.DIM, 100.0, 0.0, "softmax")


def test_clip_image_settings_are_honoured(tmp_path: Path) -> None:
    spec = load(clip_layout(tmp_path / "p", size={"shortest_edge": 10}, resample=2)).image_spec
    assert (spec.size, spec.short_side, spec.resize, spec.interpolation) == (packs.SIZE, 10, "shortest", "bilinear")
    assert (spec.mean, spec.std) == (tuple(packs.MEAN), tuple(packs.STD))


@pytest.mark.parametrize(
    "images",
    [
        {},
        {"rescale_factor": 1 / 127.5, "image_mean": [0.5] * 3, "image_std": [0.5] * 3},
        {"do_rescale": False, "do_normalize": False},
        {"size": {"shortest_edge": packs.SIZE}, "do_center_crop": False},
        {"size": {"shortest_edge": 2 * packs.SIZE}},
        {"do_resize": False},
    ],
)
def test_images_are_prepared_as_transformers_would(tmp_path: Path, images: dict[str, Any]) -> None:
    """The same settings in a processor of transformers, read by `hf:`."""
    transformers = pytest.importorskip("transformers")
    processor = transformers.CLIPImageProcessor(**CLIP_IMAGES | images)
    expected = image_spec(processor, image_size=None, model_id="clip")
    assert load(clip_layout(tmp_path / "p", **images)).image_spec == expected


def test_old_configurations_with_plain_numbers_mean_the_same(tmp_path: Path) -> None:
    old = load(clip_layout(tmp_path / "a", size=packs.SIZE, crop_size=packs.SIZE)).image_spec
    assert old == load(clip_layout(tmp_path / "b")).image_spec


def test_an_image_processor_that_does_not_normalise_is_taken_at_its_word(tmp_path: Path) -> None:
    spec = load(clip_layout(tmp_path / "p", do_normalize=False)).image_spec
    assert (spec.mean, spec.std) == ((0, 0, 0), (1, 1, 1))


def test_without_a_crop_the_image_is_squashed(tmp_path: Path) -> None:
    square = {"height": packs.SIZE, "width": packs.SIZE}
    assert load(clip_layout(tmp_path / "p", do_center_crop=False, size=square)).image_spec.resize == "squash"


def test_viewvote_json_beside_it_overrides_single_facts(tmp_path: Path) -> None:
    folder = clip_layout(tmp_path / "p")
    (folder / "viewvote.json").write_text(json.dumps({"format": "viewvote-pack-1", "scale": 14.3}))
    assert load(folder).logit_scale == 14.3


def test_siglip_without_its_scale_and_bias_is_refused_with_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(
        CheckpointError, match=r"siglip model.*cannot be guessed.*add viewvote\.json.*viewvote export hf:"
    ):
        load(siglip_layout(tmp_path / "p"))


def test_siglip_with_scale_and_bias_pads_to_the_context_and_scores_by_sigmoid(tmp_path: Path) -> None:
    folder = siglip_layout(tmp_path / "p")
    packs.save_text(folder / "onnx" / "text_model.onnx", mask=False, output="pooler_output")
    extra = {"format": "viewvote-pack-1", "scale": 117.3, "bias": -12.9}
    (folder / "viewvote.json").write_text(json.dumps(extra))
    encoder = load(folder)
    assert (encoder.logit_scale, encoder.logit_bias, encoder.scoring) == (117.3, -12.9, "sigmoid")
    assert (encoder.image_spec.resize, encoder.image_spec.interpolation) == ("squash", "bilinear")
    np.testing.assert_allclose(encoder.encode_texts(["cat"])[0], packs.text_features([1, 8, 2, 0, 0, 0]), atol=1e-6)


def test_a_clip_tower_without_projection_is_refused(tmp_path: Path) -> None:
    folder = packs.write_layout(tmp_path / "p", config=CLIP, preprocessor=CLIP_IMAGES, output="pooler_output")
    with pytest.raises(CheckpointError, match="has outputs pooler_output, expected image_embeds"):
        load(folder)


@pytest.mark.parametrize(
    ("files", "precision", "chosen"),
    [
        (["", "_quantized", "_fp16"], "auto", "vision_model.onnx"),
        (["_quantized", "_fp16"], "auto", "vision_model_fp16.onnx"),
        (["_int8"], "auto", "vision_model_int8.onnx"),
        (["", "_quantized", "_int8"], "int8", "vision_model_quantized.onnx"),
        (["", "_int8"], "int8", "vision_model_int8.onnx"),
        (["", "_int8"], "fp32", "vision_model.onnx"),
    ],
)
def test_the_precision_chooses_among_the_files(tmp_path: Path, files: list[str], precision: str, chosen: str) -> None:
    folder = clip_layout(tmp_path / "p")
    original = (folder / "onnx" / "vision_model.onnx").rename(folder / "saved")
    for suffix in files:
        (folder / "onnx" / f"vision_model{suffix}.onnx").write_bytes(original.read_bytes())
    assert load(folder, precision=precision).files.vision.name == chosen


def test_a_precision_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(
        ModelNotFoundError, match="no vision tower for precision 'int8'; expected onnx/vision_model_quant"
    ):
        load(clip_layout(tmp_path / "p"), precision="int8")


@pytest.mark.parametrize("file", ["config.json", "preprocessor_config.json", "tokenizer.json"])
def test_a_missing_side_file_is_named(tmp_path: Path, file: str) -> None:
    folder = clip_layout(tmp_path / "p")
    (folder / file).unlink()
    with pytest.raises(ModelNotFoundError, match=f"{file} is missing"):
        load(folder)


@pytest.mark.parametrize(
    ("images", "message"),
    [
        ({"resample": 5}, "resampled by 5; expected"),
        ({"size": {}, "crop_size": {}}, "preprocessor_config.json wants its images resized to"),
        ({"size": {"shortest_edge": 4}}, "expected the short side scaled and a square crop inside it"),
        ({"size": {"height": 9, "width": 9}}, "or a plain square"),
    ],
)
def test_image_settings_that_cannot_be_honoured_are_refused(
    tmp_path: Path, images: dict[str, Any], message: str
) -> None:
    with pytest.raises(CheckpointError, match=message):
        load(clip_layout(tmp_path / "p", **images))


def test_the_padding_token_of_the_tokenizer_wins_over_the_configuration(tmp_path: Path) -> None:
    folder = clip_layout(tmp_path / "p")
    (folder / "config.json").write_text(json.dumps(CLIP | {"text_config": {"pad_token_id": 1}}))
    assert load(folder).files.config.pad_id == 0
    (folder / "tokenizer_config.json").unlink()
    assert load(folder).files.config.pad_id == 1
