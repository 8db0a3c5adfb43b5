"""Pictures in small files."""

import io

import numpy as np
from PIL import Image

from tests.conftest import draw_photo
from viewvote.pictures.compact import webp


def test_a_picture_keeps_its_size_and_looks_where_it_fits():
    image = draw_photo(300, 200)
    with Image.open(io.BytesIO(webp(image))) as found:
        assert (found.format, found.size) == ("WEBP", (300, 200))
        assert np.abs(np.asarray(found, float) - np.asarray(image, float)).mean() < 8


def test_the_limit_holds_for_noise_too():
    noise = Image.fromarray(np.random.default_rng(0).integers(0, 256, (600, 900, 3), dtype=np.uint8))
    for most in (100_000, 20_000, 3_000):
        data = webp(noise, most_bytes=most)
        assert len(data) <= most
    with Image.open(io.BytesIO(data)) as found:
        assert found.width < 900
