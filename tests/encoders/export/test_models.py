"""Tiny open_clip and transformers models in their own formats, exported and compared with their source."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.torch
tiny_torch = pytest.importorskip("tests.encoders.torch.tiny_torch")

from viewvote.encoders import LoadOptions, load_encoder  # noqa: E402
from viewvote.encoders.export.pack import export_pack  # noqa: E402
from viewvote.errors import UnsupportedEncoderError  # noqa: E402

TEXTS = ["a photo of a cat.", "dog", "", "It's the SEA lion, isn't it?", "red fox " * 60]


def open_clip_model(folder: Path) -> str:
    return f"open_clip:local-dir:{tiny_torch.write_open_clip(folder)}"


def hf_clip(folder: Path) -> str:
    tiny_torch.write_hf_clip(folder)
    return f"hf:{folder}"


def siglip(folder: Path) -> str:
    tiny_torch.write_siglip(folder)
    return f"hf:{folder}"


@pytest.mark.parametrize("write", [open_clip_model, hf_clip, siglip])
def test_the_pack_of_a_real_architecture_gives_its_sources_features(
    tmp_path: Path, write: Callable[[Path], str]
) -> None:
    source = load_encoder(write(tmp_path / "model"), LoadOptions(device="cpu"))
    size = source.image_spec.size
    views = np.random.default_rng(0).integers(0, 256, (6, size, size, 3), dtype=np.uint8)
    report = export_pack(source, tmp_path / "pack", views=views, int8=True)
    pack = load_encoder(f"onnx:{tmp_path / 'pack'}", LoadOptions(precision="fp32"))
    assert pack.image_spec == source.image_spec
    assert (pack.logit_scale, pack.logit_bias) == (source.logit_scale, source.logit_bias)
    np.testing.assert_allclose(pack.encode_images(views), source.encode_images(views), atol=1e-5)
    np.testing.assert_allclose(pack.encode_texts(TEXTS), source.encode_texts(TEXTS), atol=1e-5)
    assert report.int8 is not None
    assert report.int8.cosine_mean > 0.95
    assert (
        report.sizes["vision.onnx"] < 1_000_000
    )  # the text tower is not in it: open_clip's vocabulary alone is 4.7 MB


def test_a_tower_that_takes_patches_is_refused(tmp_path: Path) -> None:
    tiny_torch.write_siglip2(tmp_path / "model")
    source = load_encoder(f"hf:{tmp_path / 'model'}", LoadOptions(device="cpu"))
    views = np.zeros((2, source.image_spec.size, source.image_spec.size, 3), dtype=np.uint8)
    with pytest.raises(UnsupportedEncoderError, match="cannot be exported: its vision tower takes patches"):
        export_pack(source, tmp_path / "pack", views=views)
