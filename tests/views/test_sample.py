"""Views drawn when they are asked for: the same pixels as all at once, from a photo decoded once."""

import io

import numpy as np
import pytest

from tests.conftest import draw_photo
from viewvote.images.photo import Photo
from viewvote.images.spec import ImageSpec
from viewvote.views import sample as samples
from viewvote.views.draw import Drawing, reduction
from viewvote.views.sample import prepare

SPEC = ImageSpec(size=32)


def jpeg(width, height):
    out = io.BytesIO()
    draw_photo(width, height).save(out, "JPEG", quality=95)
    return out.getvalue()


@pytest.fixture
def decoded(monkeypatch):
    """How often a photo was decoded."""
    calls = []
    original = Photo.decoded

    def decoded(self, factors=(1,)):
        calls.append(sorted(factors))
        return original(self, factors)

    monkeypatch.setattr(Photo, "decoded", decoded)
    return calls


@pytest.mark.parametrize("size", [(90, 60), (700, 500)])  # the large one is drawn from reduced copies
def test_rounds_draw_the_pixels_of_a_single_pass_and_decode_once(size, decoded):
    data = jpeg(*size)
    whole = prepare(data, SPEC, n_views=20, seed=0)
    assert len(decoded) == 1
    rounds = prepare(data, SPEC, n_views=20, seed=0, first=8)
    assert len(rounds.pixels) == 8
    parts = [rounds.pixels]
    for start, end in ((8, 16), (16, 20)):
        rounds.draw_ahead(end)
        parts.append(rounds.draw(start, end))
    assert len(decoded) == 2
    np.testing.assert_array_equal(np.concatenate(parts), whole.pixels)
    np.testing.assert_array_equal(rounds.pixels, whole.pixels)


def test_a_large_photo_is_decoded_again_instead_of_held(decoded, monkeypatch):
    monkeypatch.setattr(samples, "HOLD_PIXELS", 1000)
    data = jpeg(200, 150)
    rounds = prepare(data, SPEC, n_views=16, seed=0, first=8)
    np.testing.assert_array_equal(rounds.draw(0, 16), prepare(data, SPEC, n_views=16, seed=0).pixels)
    assert len(decoded) == 3


@pytest.mark.parametrize("hold", [1000, 10**6])  # at first the photo is too large to be held
def test_views_drawn_on_demand_are_the_same_and_only_those_asked_for(hold, decoded, monkeypatch):
    monkeypatch.setattr(samples, "HOLD_PIXELS", hold)
    data = jpeg(200, 150)
    whole = prepare(data, SPEC, n_views=12, seed=0).pixels
    sample = prepare(data, SPEC, n_views=12, seed=0, first=0)
    sample.on_demand = True
    sample.draw_ahead(4)
    for i in (2, 0, 3, 1):
        np.testing.assert_array_equal(sample.draw(i, i + 1), whole[i : i + 1])
    sample.draw_ahead(12)
    np.testing.assert_array_equal(sample.draw(6, 7), whole[6:7])
    np.testing.assert_array_equal(sample.draw(2, 6), whole[2:6])
    np.testing.assert_array_equal(sample.pixels, whole)
    assert sample.timings["render"] > 0


def test_nothing_is_drawn_on_demand_before_somebody_asks(monkeypatch):
    drawn = []
    original = Drawing._draw
    monkeypatch.setattr(Drawing, "_draw", lambda self, i: (drawn.append(i), original(self, i)))
    sample = prepare(jpeg(90, 60), SPEC, n_views=8, seed=0, first=0)
    sample.on_demand = True
    sample.draw_ahead(8)
    assert drawn == []
    sample.draw(3, 5)
    sample.draw(3, 5)
    assert drawn == [3, 4]


def test_a_photo_that_is_decoded_again_is_drawn_further_than_asked_and_never_at_first(decoded, monkeypatch):
    monkeypatch.setattr(samples, "HOLD_PIXELS", 1000)
    data = jpeg(200, 150)
    rounds = prepare(data, SPEC, n_views=64, seed=0, first=1)
    assert len(rounds.pixels) == 1
    parts, decodings = [rounds.pixels], []
    for start, end in ((1, 2), (2, 3), (3, 8), (8, 12), (12, 32), (32, 40), (40, 64)):
        rounds.draw_ahead(end)
        parts.append(rounds.draw(start, end))
        decodings.append(len(decoded))
    assert decodings == [2, 2, 2, 3, 3, 4, 4]  # 1 view, then 8, 32 and 64
    np.testing.assert_array_equal(np.concatenate(parts), prepare(data, SPEC, n_views=64, seed=0).pixels)


def test_what_is_drawn_is_not_drawn_again(decoded):
    sample = prepare(jpeg(90, 60), SPEC, n_views=8, seed=0)
    before = sample.pixels
    sample.draw_ahead(8)
    assert sample.draw(2, 5).shape == (3, 32, 32, 3)
    assert sample.pixels is before
    assert len(decoded) == 1


def test_decoding_counts_as_reading_and_not_as_drawing(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(samples, "perf_counter", lambda: clock[0])
    original = Photo.decoded

    def decoded(self, factors=(1,)):
        clock[0] += 5
        return original(self, factors)

    monkeypatch.setattr(Photo, "decoded", decoded)
    assert prepare(jpeg(90, 60), SPEC, n_views=8, seed=0).timings == {"read": 5, "render": 0}


def test_first_may_exceed_the_views():
    assert len(prepare(jpeg(90, 60), SPEC, n_views=3, seed=0, first=8).pixels) == 3


def test_the_coarse_copies_of_a_large_photo_are_held_until_a_view_needs_the_finest(decoded, monkeypatch):
    data = jpeg(370, 280)
    whole = prepare(data, SPEC, n_views=64, seed=0)
    factors = [reduction(view.box, SPEC.size) for view in whole.views]
    assert set(factors) == {1, 2, 4}
    monkeypatch.setattr(samples, "HOLD_PIXELS", 370 * 280 // 2)  # the copies reduced 2 and 4 times, not the full size
    decoded.clear()
    sample = prepare(data, SPEC, n_views=64, seed=0, first=1)
    fine = factors.index(1)
    for i in range(fine):
        np.testing.assert_array_equal(sample.draw(i, i + 1), whole.pixels[i : i + 1])
    assert fine > 8
    assert len(decoded) == 1
    np.testing.assert_array_equal(sample.draw(fine, fine + 1), whole.pixels[fine : fine + 1])
    assert len(decoded) == 2
    np.testing.assert_array_equal(sample.draw(0, 64), whole.pixels)
