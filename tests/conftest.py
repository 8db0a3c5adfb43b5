"""What several tests need: drawn pictures, and the real photographs where they exist."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

PHOTOS = Path(__file__).parents[2] / "shared" / "data"


def draw_photo(width: int, height: int, *, seed: int = 0) -> Image.Image:
    """A picture with edges, texture and gradients at all scales, as a photograph has."""
    rng = np.random.default_rng(seed)
    pixels = np.zeros((height, width, 3))
    for cells in (3, 9, 40):
        small = Image.fromarray(rng.integers(0, 256, (cells, cells, 3), dtype=np.uint8))
        pixels += np.asarray(small.resize((width, height), Image.Resampling.BICUBIC), dtype=float) / 4
    pixels += rng.normal(0, 6, pixels.shape)
    pixels[height // 3 : height // 2, width // 4 : width // 2] = (220, 40, 30)
    return Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))


@pytest.fixture(scope="session")
def photos() -> Path:
    """The folder of real photographs; tests that need it skip where it is not beside the repository."""
    if not (PHOTOS / "eval").is_dir():
        pytest.skip("needs the photographs of ../shared/data, which are not here")
    return PHOTOS


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests neither read nor fill the user's cache."""
    monkeypatch.setenv("VIEWVOTE_CACHE", str(tmp_path_factory.getbasetemp() / "viewvote-cache"))
