"""The fast resizer against Pillow, and Pillow where there is no fast one."""

import numpy as np
import pytest
from PIL import Image

from tests.conftest import draw_photo
from viewvote.images import resize as resampling
from viewvote.images.resize import is_fast, resize

SIZES = [
    ((500, 375), (224, 224)),
    ((90, 120), (224, 224)),
    ((1, 1), (7, 5)),
    ((3000, 10), (32, 32)),
    ((64, 64), (1, 1)),
]


@pytest.fixture
def without_the_fast_one(monkeypatch):
    monkeypatch.setattr(resampling, "find_spec", lambda name: None)
    is_fast.cache_clear()
    yield
    is_fast.cache_clear()


@pytest.mark.skipif(not is_fast(), reason="no build of the SIMD resizer for this machine")
@pytest.mark.parametrize(("size", "to"), SIZES)
def test_fast_pixels_are_pillows_to_one_grey_level(size, to):
    image = draw_photo(*size) if min(size) > 9 else Image.new("RGB", size, (9, 120, 250))
    ours, pillows = resize(image, to), image.resize(to, Image.Resampling.BILINEAR)
    assert ours.size == to
    assert np.abs(np.asarray(ours, dtype=int) - np.asarray(pillows, dtype=int)).max() <= 1


@pytest.mark.skipif(not is_fast(), reason="no build of the SIMD resizer for this machine")
@pytest.mark.parametrize("box", [(0, 0, 300, 200), (10.25, 3.5, 211.75, 180.0), (299, 199, 300, 200)])
def test_a_box_with_fractions_is_pillows_to_one_grey_level(box):
    image = draw_photo(300, 200)
    ours, pillows = resize(image, (64, 64), box=box), image.resize((64, 64), Image.Resampling.BILINEAR, box=box)
    assert np.abs(np.asarray(ours, dtype=int) - np.asarray(pillows, dtype=int)).max() <= 1


def test_exact_is_pillow_to_the_last_bit():
    image = draw_photo(301, 200)
    assert resize(image, (64, 64), exact=True).tobytes() == image.resize((64, 64), Image.Resampling.BILINEAR).tobytes()


@pytest.mark.usefixtures("without_the_fast_one")
def test_without_the_fast_one_it_is_pillow():
    image, box = draw_photo(301, 200), (1.5, 2.5, 200.0, 150.0)
    assert not is_fast()
    expected = image.resize((64, 64), Image.Resampling.BILINEAR, box=box)
    assert resize(image, (64, 64), box=box).tobytes() == expected.tobytes()
