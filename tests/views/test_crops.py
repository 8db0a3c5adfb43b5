"""Boxes against torchvision's distribution, pixels against torchvision's pixels, bytes against every way of asking."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from viewvote.errors import UsageError
from viewvote.images.spec import ImageSpec
from viewvote.prediction import Box
from viewvote.rng import sample_rng
from viewvote.views import crops
from viewvote.views.crops import SampledViews, View, sample_views, source_box

SPEC = ImageSpec(size=224)


def views_of(size, *, n_views=64, key="k", seed=0, spec=SPEC):
    return sample_views(size, spec, n_views=n_views, rng=sample_rng(seed=seed, dataset="d", key=key))


def test_the_first_view_is_the_source_and_the_rest_lie_inside():
    views = views_of((500, 375))
    assert len(views) == 64
    assert views[0] == View(source_box((500, 375), SPEC), flip=False, source=True)
    for view in views[1:]:
        assert not view.source
        assert 0 <= view.box.left < view.box.right <= 500
        assert 0 <= view.box.top < view.box.bottom <= 375


def test_a_longer_list_extends_a_shorter_one():
    assert views_of((500, 375), n_views=64)[:8] == views_of((500, 375), n_views=8)


def test_a_view_is_found_when_it_is_asked_for_and_is_the_same_in_any_order(monkeypatch):
    found, original = [], crops._random_view
    monkeypatch.setattr(crops, "_random_view", lambda size, draws: found.append(size) or original(size, draws))
    all_of_them = views_of((500, 375), n_views=16)
    found.clear()
    few = SampledViews((500, 375), SPEC, n_views=16, rng=sample_rng(seed=0, dataset="d", key="k"))
    assert (len(few), found) == (16, [])
    assert [few[9], few[-1], few[9], few[0]] == [all_of_them[i] for i in (9, 15, 9, 0)]
    assert len(found) == 2
    assert few[:4] == all_of_them[:4]
    with pytest.raises(IndexError):
        few[16]


@pytest.mark.parametrize("n", [0, -3])
def test_fewer_than_one_view_is_an_error(n):
    with pytest.raises(UsageError, match="at least 1"):
        views_of((10, 10), n_views=n)


def test_source_box_by_hand():
    assert source_box((448, 224), SPEC) == Box(112, 0, 336, 224)
    assert source_box((224, 224), SPEC) == Box(0, 0, 224, 224)
    assert source_box((1000, 500), ImageSpec(size=224, resize="squash")) == Box(0, 0, 1000, 500)
    # short side to 256, then the central 224: 16 of 256 left out on each side, at half the scale of 512 pixels
    assert source_box((512, 512), ImageSpec(size=224, short_side=256)) == Box(32, 32, 480, 480)


def test_the_fallback_is_the_largest_centred_box_of_an_allowed_ratio():
    assert views_of((10_000, 10))[1].box == Box((10_000 - 13) // 2, 0, (10_000 - 13) // 2 + 13, 10)
    assert views_of((3, 300))[1].box == Box(0, 148, 3, 152)  # height round(3 / 0.75) = 4
    assert views_of((1, 1))[1].box == Box(0, 0, 1, 1)


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 4000), st.integers(1, 4000), st.integers(0, 100))
def test_boxes_are_never_empty_nor_outside(width, height, seed):
    for view in views_of((width, height), n_views=6, seed=seed):
        box = view.box
        assert box.width > 0
        assert box.height > 0
        assert box.left >= 0
        assert box.top >= 0
        assert box.right <= width + 1e-6
        assert box.bottom <= height + 1e-6


def test_half_of_the_views_are_flipped():
    flips = [view.flip for i in range(100) for view in views_of((300, 200), key=str(i))[1:]]
    assert abs(np.mean(flips) - 0.5) < 4 * 0.5 / np.sqrt(len(flips))


# ---------------------------------------------------------------- against torchvision


def ks_distance(a, b):
    """Kolmogorov-Smirnov distance of two samples."""
    grid = np.sort(np.concatenate([a, b]))
    return np.abs(
        np.searchsorted(np.sort(a), grid, "right") / len(a) - np.searchsorted(np.sort(b), grid, "right") / len(b)
    ).max()


@pytest.mark.torch
@pytest.mark.parametrize("size", [(500, 375), (300, 700), (224, 224)])
def test_area_ratio_and_position_follow_torchvisions_distribution(size):
    torch = pytest.importorskip("torch")
    transforms = pytest.importorskip("torchvision.transforms")
    image = Image.new("L", size)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        theirs = [transforms.RandomResizedCrop.get_params(image, (0.08, 1.0), (3 / 4, 4 / 3)) for _ in range(6000)]
    top, left, height, width = np.array(theirs, dtype=float).T
    ours = np.array([v.box.to_list() for i in range(95) for v in views_of(size, key=str(i))[1:]], dtype=float)  # 5985
    o_left, o_top, o_width, o_height = ours[:, 0], ours[:, 1], ours[:, 2] - ours[:, 0], ours[:, 3] - ours[:, 1]
    limit = 1.95 * np.sqrt(1 / len(theirs) + 1 / len(ours))  # p = 0.001
    with np.errstate(invalid="ignore"):
        for a, b in (
            (width * height, o_width * o_height),
            (width / height, o_width / o_height),
            (left, o_left),
            (top, o_top),
            (left / (size[0] - width + 1), o_left / (size[0] - o_width + 1)),
        ):
            assert ks_distance(a, b) < limit
