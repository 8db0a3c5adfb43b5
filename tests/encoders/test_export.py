"""Torch encoders written as packs: parity with the source, int8 end to end, and what must not be overwritten."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import packs
import pytest

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch")

from viewvote.encoders import LoadOptions, load_encoder  # noqa: E402
from viewvote.encoders.base import unit_rows  # noqa: E402
from viewvote.encoders.export import export_pack  # noqa: E402
from viewvote.encoders.export_graph import export_vision  # noqa: E402
from viewvote.encoders.exportable import Exportable  # noqa: E402
from viewvote.encoders.onnx_pack import load_folder  # noqa: E402
from viewvote.encoders.pack_text import PackTokenizer  # noqa: E402
from viewvote.encoders.runtimes import open_session  # noqa: E402
from viewvote.encoders.toy import ToyEncoder  # noqa: E402
from viewvote.errors import CheckpointError, UnsupportedEncoderError, UsageError  # noqa: E402
from viewvote.types import Float32, ImageSpec, UInt8  # noqa: E402

SIZE, DIM, CONTEXT = 32, 16, 12
WORDS = ["a", "photo", "of", "dog", "cat"]


class Vision(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        layers = [torch.nn.Conv2d(3, 16, 5, stride=2), torch.nn.ReLU(), torch.nn.Conv2d(16, 32, 3, stride=2)]
        self.features = torch.nn.Sequential(*layers, torch.nn.ReLU())
        self.head = torch.nn.Linear(32, DIM)

    def forward(self, pixels: "torch.Tensor") -> "torch.Tensor":
        return self.head(self.features(pixels).mean(dim=(2, 3)))


class Text(torch.nn.Module):
    """One causal attention layer read at the end token, as CLIP's text tower is."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens = torch.nn.Embedding(len(packs.WORDS), 32)
        self.places = torch.nn.Parameter(torch.randn(CONTEXT, 32))
        self.qkv, self.head = torch.nn.Linear(32, 96), torch.nn.Linear(32, DIM)

    def forward(self, ids: "torch.Tensor") -> "torch.Tensor":
        length = ids.shape[1]
        x = self.tokens(ids) + self.places[:length]
        query, key, value = self.qkv(x).chunk(3, dim=-1)
        ahead = torch.ones(CONTEXT, CONTEXT, dtype=torch.bool).triu(1)[:length, :length]
        weights = (query @ key.transpose(1, 2) / 32).masked_fill(ahead, -1e9).softmax(dim=-1)
        return self.head((x + 5 * weights @ value)[torch.arange(ids.shape[0]), ids.eq(2).int().argmax(dim=1)])


class TinyEncoder:
    """The smallest Exportable torch encoder."""

    model_id, fingerprint, dim = "tiny:torch", "tiny", DIM
    logit_scale, logit_bias, scoring = 33.0, -2.0, "sigmoid"
    context_length, pad_id = CONTEXT, 0
    text_inputs = ("input_ids",)
    image_spec = ImageSpec(size=SIZE, interpolation="bilinear", resize="squash")

    def __init__(self, tmp_path: Path, *, pad_to: str = "longest") -> None:
        torch.manual_seed(0)
        self.vision, self.text = Vision().eval(), Text().eval()
        self.pad_to = pad_to
        packs.save_tokenizer(tmp_path / "source-tokenizer.json")
        self.source = tmp_path / "source-tokenizer.json"

    def vision_module(self) -> "torch.nn.Module":
        return self.vision

    def text_module(self) -> "torch.nn.Module":
        return self.text

    def tokenizer_json(self) -> str:
        return self.source.read_text()

    def encode_images(self, views: UInt8) -> Float32:
        pixels = (views / 255.0 - np.array(self.image_spec.mean)) / np.array(self.image_spec.std)
        with torch.no_grad():
            return unit_rows(self.vision(torch.tensor(pixels, dtype=torch.float32).permute(0, 3, 1, 2)).numpy())

    def encode_texts(self, texts: Sequence[str]) -> Float32:
        tokenizer = PackTokenizer(self.source, context_length=CONTEXT, pad_id=0, pad_to="max")
        with torch.no_grad():
            ids = np.concatenate([tokenizer.encode(text)[0] for text in texts])
            return unit_rows(self.text(torch.from_numpy(ids)).numpy())


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
    assert isinstance(source, Exportable)
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


def test_too_few_views_to_compare_on_are_refused(tmp_path: Path, encoder: TinyEncoder) -> None:
    with pytest.raises(UsageError, match="at least 2 views, got 1"):
        export_pack(encoder, tmp_path / "pack", views=photos(1))
