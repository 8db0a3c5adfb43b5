"""Views drawn by torch against those that Pillow draws."""

import numpy as np
import pytest

from tests.conftest import draw_photo

torch = pytest.importorskip("torch")

from viewvote import Classifier, load_encoder  # noqa: E402
from viewvote.encoders import LoadOptions  # noqa: E402
from viewvote.encoders.torch.device_views import draw_views  # noqa: E402
from viewvote.errors import UsageError  # noqa: E402
from viewvote.images.photo import open_photo  # noqa: E402
from viewvote.images.spec import ImageSpec  # noqa: E402
from viewvote.prediction import Box  # noqa: E402
from viewvote.rng import sample_rng  # noqa: E402
from viewvote.views.augmix import sample_mixes  # noqa: E402
from viewvote.views.crops import View, sample_views  # noqa: E402
from viewvote.views.draw import reduction, render_views  # noqa: E402

CPU = torch.device("cpu")


def both(photo, views, spec):
    """The views as torch draws them, and as Pillow does from the same levels."""
    levels = photo.levels({reduction(view.box, spec.size) for view in views})
    return draw_views(levels, views, spec, device=CPU).numpy().astype(int), render_views(photo, views, spec).astype(int)


@pytest.mark.parametrize("size", [(90, 60), (333, 500), (1400, 900), (40, 700)])
def test_random_crops_differ_by_one_grey_level_at_most(size):
    photo, spec = open_photo(draw_photo(*size)), ImageSpec(size=48)
    views = sample_views(photo.size, spec, n_views=40, rng=sample_rng(seed=0, dataset="", key=str(size)))
    drawn, expected = both(photo, views, spec)
    assert any(view.flip for view in views)
    assert drawn.shape == expected.shape == (40, 48, 48, 3)
    assert np.abs(drawn - expected).max() <= 1
    assert np.abs(drawn - expected).mean() < 0.3


@pytest.mark.parametrize("interpolation", ["nearest", "bilinear", "bicubic", "lanczos"])
@pytest.mark.parametrize("resize", ["shortest", "squash"])
@pytest.mark.parametrize("size", [(200, 130), (30, 45)])
def test_the_source_view_follows_the_models_filter(interpolation, resize, size):
    photo, spec = open_photo(draw_photo(*size)), ImageSpec(size=48, interpolation=interpolation, resize=resize)
    views = sample_views(photo.size, spec, n_views=1, rng=sample_rng(seed=0, dataset="", key=""))
    drawn, expected = both(photo, views, spec)
    assert np.abs(drawn - expected).max() <= 1


def test_a_crop_reads_no_pixel_outside_itself():
    picture = np.zeros((64, 64, 3), dtype=np.uint8)
    picture[16:48, 16:48] = 200
    view = View(Box(16, 16, 48, 48), flip=False)
    drawn, _ = both(open_photo(picture), [view], ImageSpec(size=16))
    assert (drawn == 200).all()


def test_a_flip_mirrors_the_view():
    photo, spec = open_photo(draw_photo(120, 80)), ImageSpec(size=32)
    box = Box(10, 5, 90, 70)
    drawn, _ = both(photo, [View(box, flip=False), View(box, flip=True)], spec)
    np.testing.assert_array_equal(drawn[1], drawn[0][:, ::-1])


def test_mixed_views_are_refused():
    mix = sample_mixes(1, sample_rng(seed=0, dataset="", key="", stream="augmix"))[0]
    photo, spec = open_photo(draw_photo(60, 60)), ImageSpec(size=16)
    with pytest.raises(UsageError, match="AugMix views are not drawn on the device"):
        draw_views(photo.levels({1}), [View(Box(0, 0, 30, 30), flip=False, mix=mix)], spec, device=CPU)


@pytest.mark.parametrize("augment", ["crops", "augmix"])
def test_a_classifier_draws_on_the_device_when_asked(augment, monkeypatch):
    elsewhere, drawn = [], []
    for drawing in ("cpu", "device"):
        encoder = load_encoder("pocket-torch", LoadOptions(device="cpu", drawing=drawing))
        real = encoder.draw_views
        monkeypatch.setattr(encoder, "draw_views", lambda *args, real=real: elsewhere.append(1) or real(*args))
        classifier = Classifier(encoder, labels=["cat", "dog", "rocket"], n_views=6, augment=augment)
        drawn.append(classifier(draw_photo(200, 150)).trace.views)
    assert len(elsewhere) == (augment == "crops")  # mixed views stay on the CPU
    assert [view.box for view in drawn[0]] == [view.box for view in drawn[1]]
    np.testing.assert_allclose([v.entropy for v in drawn[0]], [v.entropy for v in drawn[1]], atol=0.05)
