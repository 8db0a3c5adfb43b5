"""Drawn views: the pixels of torchvision's crops, from reduced copies where those suffice, the same anywhere."""

import io
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from PIL import Image

from tests.conftest import draw_photo
from viewvote.images.photo import open_photo
from viewvote.images.spec import ImageSpec
from viewvote.prediction import Box
from viewvote.rng import sample_rng
from viewvote.views.crops import sample_views
from viewvote.views.draw import reduction, reductions, render_views

SPEC = ImageSpec(size=224)


def views_of(size, *, n_views=64, key="k", seed=0, spec=SPEC):
    return sample_views(size, spec, n_views=n_views, rng=sample_rng(seed=seed, dataset="d", key=key))


@pytest.mark.parametrize("size", [(1, 1), (1, 7), (10_000, 10), (10, 10_000), (2, 3), (5, 4), (333, 127)])
@pytest.mark.parametrize("resize", ["shortest", "squash"])
def test_images_of_any_shape_render(size, resize):
    spec = ImageSpec(size=16, resize=resize)
    photo = open_photo(Image.new("RGB", size, (10, 200, 30)))
    out = render_views(photo, views_of(size, n_views=8, spec=spec), spec)
    assert out.shape == (8, 16, 16, 3)
    assert out.dtype == np.uint8
    np.testing.assert_array_equal(np.unique(out.reshape(-1, 3), axis=0), [[10, 200, 30]])


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


@pytest.mark.parametrize("size", [(300, 200), (895, 2000), (896, 896), (1800, 900), (3000, 2500), (8000, 6000)])
@pytest.mark.parametrize("resize", ["shortest", "squash"])
def test_how_often_an_image_is_reduced_is_that_of_all_its_views(size, resize):
    spec = ImageSpec(size=224, resize=resize)
    views = views_of(size, spec=spec)
    assert reductions(views, spec, of=size) == {reduction(view.box, 224) for view in views}


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
        "from viewvote.images.spec import ImageSpec\n"
        "from viewvote.views.crops import sample_views\n"
        "from viewvote.views.draw import render_views\n"
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
