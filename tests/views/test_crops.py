"""Boxes against torchvision's distribution, pixels against torchvision's pixels, bytes against every way of asking."""

import io
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from tests.conftest import draw_photo
from viewvote.errors import UsageError
from viewvote.images.photo import open_photo
from viewvote.prediction import Box, ImageSpec
from viewvote.rng import sample_rng
from viewvote.views.crops import View, reduction, render_views, sample_views, source_box

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


@pytest.mark.parametrize("size", [(1, 1), (1, 7), (10_000, 10), (10, 10_000), (2, 3), (5, 4), (333, 127)])
@pytest.mark.parametrize("resize", ["shortest", "squash"])
def test_images_of_any_shape_render(size, resize):
    spec = ImageSpec(size=16, resize=resize)
    photo = open_photo(Image.new("RGB", size, (10, 200, 30)))
    out = render_views(photo, views_of(size, n_views=8, spec=spec), spec)
    assert out.shape == (8, 16, 16, 3)
    assert out.dtype == np.uint8
    np.testing.assert_array_equal(np.unique(out.reshape(-1, 3), axis=0), [[10, 200, 30]])


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


@pytest.mark.torch
@pytest.mark.parametrize("size", [(500, 375), (90, 120), (1024, 768), (224, 224), (31, 400)])
def test_crops_equal_torchvisions_to_one_grey_level(size):
    functional = pytest.importorskip("torchvision.transforms.functional")
    image = draw_photo(*size)
    views = views_of(size, n_views=24)[1:]
    for view, ours in zip(views, render_views(open_photo(image), views, SPEC), strict=True):
        b = view.box
        theirs = functional.resized_crop(image, int(b.top), int(b.left), int(b.height), int(b.width), [224, 224])
        theirs = functional.hflip(theirs) if view.flip else theirs
        assert np.abs(np.asarray(theirs, dtype=int) - ours).max() <= 1


@pytest.mark.torch
@pytest.mark.parametrize("size", [(500, 375), (375, 500), (100, 130), (641, 480), (225, 224)])
@pytest.mark.parametrize(
    "spec", [SPEC, ImageSpec(size=224, short_side=256, interpolation="bilinear"), ImageSpec(size=96, resize="squash")]
)
def test_the_source_view_equals_torchvisions_resize_and_centre_crop(size, spec):
    transforms = pytest.importorskip("torchvision.transforms")
    mode = transforms.InterpolationMode(spec.interpolation)
    short = [spec.size, spec.size] if spec.resize == "squash" else spec.short_side
    theirs = transforms.Compose([transforms.Resize(short, interpolation=mode), transforms.CenterCrop(spec.size)])
    image = draw_photo(*size)
    ours = render_views(open_photo(image), views_of(size, n_views=1, spec=spec), spec, exact=True)[0]
    assert np.abs(np.asarray(theirs(image), dtype=int) - ours).max() <= 1


# ---------------------------------------------------------------- reduced images


@pytest.mark.parametrize(
    ("side", "factor"), [(224, 1), (895, 1), (896, 2), (1791, 2), (1792, 4), (3584, 8), (50_000, 8)]
)
def test_a_reduced_image_still_spans_two_views(side, factor):
    assert reduction(Box(0, 0, side, side), 224) == factor
    assert reduction(Box(0, 0, side, 10**6), 224) == factor  # the shorter side decides


def large_jpeg(width=4000, height=3000):
    out = io.BytesIO()
    draw_photo(width, height).save(out, "JPEG", quality=92)
    return out.getvalue()


def test_reduced_rendering_differs_by_less_than_a_grey_level_on_average():
    photo = open_photo(large_jpeg())
    views = views_of(photo.size, n_views=16)
    assert {reduction(view.box, 224) for view in views} >= {2, 4}
    fast = render_views(photo, views, SPEC).astype(int)
    exact = render_views(photo, views, SPEC, exact=True).astype(int)
    difference = np.abs(fast - exact)
    assert difference.mean() < 1
    assert np.percentile(difference, 99.9) <= 8


def test_a_jpeg_is_decoded_small_when_every_view_allows_it():
    photo = open_photo(large_jpeg(2400, 2000))
    decoded = []
    original = photo._decode
    photo._decode = lambda factor: decoded.append(factor) or original(factor)
    spec = ImageSpec(size=32)
    views = views_of(photo.size, n_views=8, spec=spec)
    render_views(photo, views, spec)
    smallest = min(reduction(view.box, 32) for view in views)
    assert smallest >= 4
    assert decoded == [smallest]  # once


# ---------------------------------------------------------------- the same bytes whatever happens around


def test_views_do_not_depend_on_order_workers_or_processes():
    images = [draw_photo(120 + 7 * i, 90, seed=i) for i in range(6)]
    spec = ImageSpec(size=32)

    def rendered(i):
        photo = open_photo(images[i])
        return render_views(photo, views_of(photo.size, n_views=8, key=photo.key, spec=spec), spec).tobytes()

    forward = [rendered(i) for i in range(6)]
    assert [rendered(i) for i in reversed(range(6))] == forward[::-1]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(rendered, range(6))) == forward
    code = (
        "import numpy as np, hashlib\n"
        "from viewvote.images.photo import open_photo\n"
        "from viewvote.rng import sample_rng\n"
        "from viewvote.prediction import ImageSpec\n"
        "from viewvote.views.crops import render_views, sample_views\n"
        "photo = open_photo(np.arange(300 * 200 * 3, dtype=np.uint8).reshape(200, 300, 3)); spec = ImageSpec(size=32)\n"
        "views = sample_views(photo.size, spec, n_views=16, rng=sample_rng(seed=1, dataset='', key=photo.key))\n"
        "print(hashlib.sha256(render_views(photo, views, spec).tobytes()).hexdigest())"
    )
    digests = {
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout for _ in "ab"
    }
    assert len(digests) == 1


def test_a_real_photograph_keeps_its_views_when_renamed(photos, tmp_path):
    source = sorted((photos / "eval" / "imagenet").rglob("*.jpg"))[0]
    copy = tmp_path / "renamed.jpg"
    copy.write_bytes(source.read_bytes())
    a, b = open_photo(source), open_photo(copy)
    assert a.key == b.key
    views = [views_of(p.size, n_views=8, key=p.key) for p in (a, b)]
    np.testing.assert_array_equal(render_views(a, views[0], SPEC), render_views(b, views[1], SPEC))
