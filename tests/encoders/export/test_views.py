"""The views that an export is calibrated and compared on."""

import numpy as np
import pytest
from PIL import Image

from viewvote.encoders.export.views import calibration_views
from viewvote.encoders.toy import ToyEncoder
from viewvote.errors import UsageError

SPEC = ToyEncoder(size=16).image_spec


def photos(folder, count):
    """Paths of pictures of one colour each, of level i."""
    for i in range(count):
        Image.new("RGB", (20, 20), (i, i, i)).save(folder / f"{i:03}.png")
    return [str(folder / f"{i:03}.png") for i in range(count)]


def test_each_image_gives_its_views_and_an_unreadable_one_is_reported(tmp_path):
    paths = photos(tmp_path, 3)
    (tmp_path / "001.png").write_bytes(b"no image")
    reports = []
    views = calibration_views(paths, SPEC, n_views=2, report=reports.append)
    assert views.shape == (4, 16, 16, 3)
    assert [int(view[8, 8, 0]) for view in views] == [0, 0, 2, 2]
    assert len(reports) == 1
    assert "001.png" in reports[0]
    assert np.array_equal(views, calibration_views(paths, SPEC, n_views=2, report=reports.append))


def test_of_many_images_64_serve_evenly_spaced(tmp_path):
    views = calibration_views(photos(tmp_path, 130), SPEC, n_views=1, report=pytest.fail)
    assert [int(view[8, 8, 0]) for view in views] == list(range(0, 128, 2))


def test_no_readable_image_is_a_usage_mistake(tmp_path):
    (tmp_path / "a.png").write_bytes(b"no image")
    with pytest.raises(UsageError, match="none of the images can be read"):
        calibration_views([str(tmp_path / "a.png")], SPEC, n_views=1, report=lambda line: None)
