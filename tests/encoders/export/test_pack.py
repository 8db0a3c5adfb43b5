"""Torch encoders written as packs: parity with the source, int8 end to end, and what must not be overwritten."""

import json
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch")

from tests.encoders.export.tiny_export import DIM, WORDS, TinyEncoder  # noqa: E402
from viewvote.arrays import UInt8  # noqa: E402
from viewvote.encoders import LoadOptions, load_encoder  # noqa: E402
from viewvote.encoders.export.graph import export_vision  # noqa: E402
from viewvote.encoders.export.pack import export_pack  # noqa: E402
from viewvote.encoders.onnx.encoder import load_folder  # noqa: E402
from viewvote.encoders.onnx.runtimes import open_session  # noqa: E402
from viewvote.encoders.toy import ToyEncoder  # noqa: E402
from viewvote.errors import CheckpointError, UnsupportedEncoderError, UsageError  # noqa: E402


def photos(count: int = 12) -> UInt8:
    """Smooth random pictures: blown up noise."""
    small = np.random.default_rng(0).integers(0, 256, (count, 4, 4, 3), dtype=np.uint8)
    return small.repeat(8, axis=1).repeat(8, axis=2)


@pytest.fixture
def encoder(tmp_path: Path) -> TinyEncoder:
    return TinyEncoder(tmp_path)


@pytest.mark.parametrize("pad_to", ["longest", "max"])
def test_the_pack_gives_its_sources_features_and_facts(tmp_path: Path, pad_to: str) -> None:
    source = TinyEncoder(tmp_path, pad_to=pad_to)
    report = export_pack(source, tmp_path / "pack", views=photos(), labels=WORDS)
    assert report.folder == tmp_path / "pack"
    assert set(report.sizes) == {"vision.onnx", "text.onnx", "tokenizer.json", "viewvote.json"}
    assert (report.fp32.top1, report.int8) == (1.0, None)
    pack = load_encoder(f"onnx:{tmp_path / 'pack'}")
    assert (pack.logit_scale, pack.logit_bias, pack.dim, pack.image_spec) == (33.0, -2.0, DIM, source.image_spec)
    np.testing.assert_allclose(pack.encode_images(photos()), source.encode_images(photos()), atol=2e-6)
    texts = ["a photo of a dog", "cat", "", "dog " * 30]
    np.testing.assert_allclose(pack.encode_texts(texts), source.encode_texts(texts), atol=2e-6)


def test_int8_export_end_to_end(tmp_path: Path, encoder: TinyEncoder) -> None:
    report = export_pack(encoder, tmp_path / "pack", views=photos(40), labels=WORDS, int8=True)
    assert report.int8 is not None
    assert (report.int8.views, report.int8.labels) == (20, len(WORDS))
    assert report.int8.cosine_mean > 0.99
    assert report.int8.cosine_min <= report.int8.cosine_mean < report.fp32.cosine_mean
    assert "same best label of 5" in str(report.int8)
    for runtime in ("onnxruntime", "auto"):
        options = LoadOptions(runtime=runtime)
        pack = load_folder(tmp_path / "pack", model_id="x", options=options)
        assert pack.files.vision.name == "vision.int8.onnx"
        cosines = (pack.encode_images(photos(40)) * encoder.encode_images(photos(40))).sum(axis=1)
        assert cosines.min() > 0.98


def test_a_folder_with_files_is_not_overwritten_unasked(tmp_path: Path, encoder: TinyEncoder) -> None:
    out = tmp_path / "pack"
    out.mkdir()
    (out / "mine.txt").write_text("precious")
    with pytest.raises(UsageError, match="exists and is not empty"):
        export_pack(encoder, out, views=photos(), labels=WORDS)
    assert [p.name for p in out.iterdir()] == ["mine.txt"]
    export_pack(encoder, out, views=photos(), labels=WORDS, overwrite=True)
    assert not (out / "mine.txt").exists()
    assert json.loads((out / "viewvote.json").read_text())["name"] == "tiny:torch"


def test_an_empty_folder_may_be_filled(tmp_path: Path, encoder: TinyEncoder) -> None:
    (tmp_path / "pack").mkdir()
    export_pack(encoder, tmp_path / "pack", views=photos(), labels=WORDS)
    assert (tmp_path / "pack" / "vision.onnx").is_file()


def test_a_pack_that_differs_from_its_source_is_not_written(tmp_path: Path, encoder: TinyEncoder) -> None:
    before = set(tmp_path.iterdir())
    encoder.tokenizer_json = lambda: encoder.source.read_text().replace('"dog"', '"hog"')
    with pytest.raises(
        CheckpointError, match=r"differs from its source: least cosine .* of texts.*Nothing was written"
    ):
        export_pack(encoder, tmp_path / "pack", views=photos(), labels=WORDS)
    assert set(tmp_path.iterdir()) == before


class FrozenByTracing(torch.nn.Module):
    """A module whose trace would hold the batch size of the example."""

    def forward(self, pixels: "torch.Tensor") -> "torch.Tensor":
        return pixels.reshape(len(pixels), 3, -1).mean(dim=2)


def test_what_tracing_would_freeze_is_captured_otherwise(tmp_path: Path) -> None:
    export_vision(FrozenByTracing(), tmp_path / "vision.onnx", size=8)
    pixels = np.random.default_rng(0).standard_normal((1, 3, 8, 8), dtype=np.float32)
    features = open_session(tmp_path / "vision.onnx", runtime="onnxruntime").run(
        {"pixel_values": pixels}, output="image_embeds"
    )
    np.testing.assert_allclose(features, pixels.mean(axis=(2, 3)), atol=1e-6)


def test_an_encoder_without_towers_cannot_be_exported(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedEncoderError, match="toy cannot be exported: expected an open_clip"):
        export_pack(ToyEncoder(), tmp_path / "pack", views=photos(), labels=WORDS)
    assert not (tmp_path / "pack").exists()


def test_an_encoder_is_known_by_what_it_can_do_and_not_by_its_id(tmp_path: Path, encoder: TinyEncoder) -> None:
    class Named(ToyEncoder):
        model_id = "open_clip:ViT-B-16/openai"

    with pytest.raises(UnsupportedEncoderError, match="openai cannot be exported: expected an open_clip"):
        export_pack(Named(), tmp_path / "pack", views=photos(), labels=WORDS)
    encoder.model_id = "mine"
    assert export_pack(encoder, tmp_path / "pack", views=photos(), labels=WORDS).fp32.top1 == 1.0


def test_too_few_views_to_compare_on_are_refused(tmp_path: Path, encoder: TinyEncoder) -> None:
    with pytest.raises(UsageError, match="at least 2 views, got 1"):
        export_pack(encoder, tmp_path / "pack", views=photos(1))
