"""Photographs of phones and cameras: opened with their extra, and without it an error that names it."""

import io

import numpy as np
import pytest
from PIL import Image

from tests.images.raw_files import dng
from viewvote.errors import ImageTooLargeError, UnreadableImageError
from viewvote.images import extras
from viewvote.images.photo import ImageLimits, open_photo


def halves(width=64, height=48):
    """Blue on the left, red on the right."""
    image = Image.new("RGB", (width, height), (250, 0, 0))
    image.paste((0, 0, 250), (0, 0, width // 2, height))
    return image


def heic(image):
    pillow_heif = pytest.importorskip("pillow_heif")
    held = io.BytesIO()
    pillow_heif.from_pillow(image).save(held, quality=95)
    return held.getvalue()


def close(image, expected):
    return np.abs(np.asarray(image, dtype=int) - np.asarray(expected, dtype=int)).mean() < 6


def test_a_photograph_of_a_phone_is_opened(tmp_path):
    path = tmp_path / "IMG_1.HEIC"
    path.write_bytes(heic(halves()))
    assert extras.is_heif(path.read_bytes())
    for source in (path, path.read_bytes(), io.BytesIO(path.read_bytes())):
        photo = open_photo(source)
        assert photo.size == (64, 48)
        assert close(photo.full(), halves())
        assert photo.levels([4])[4].size == (16, 12)


def test_limits_and_damage_are_those_of_any_image():
    data = heic(halves())
    with pytest.raises(ImageTooLargeError, match="64 x 48 pixels; the limit is 3,000 pixels"):
        open_photo(data, limits=ImageLimits(max_pixels=3000))
    with pytest.raises(UnreadableImageError):
        open_photo(data[:300]).full()


def test_without_the_extra_the_error_names_it(tmp_path, monkeypatch):
    data = heic(halves())
    monkeypatch.setattr(extras, "find_spec", lambda module: None)
    with pytest.raises(UnreadableImageError, match=r'pip install "viewvote\[heic\]"'):
        open_photo(data)
    (tmp_path / "a.NEF").write_bytes(b"anything")
    with pytest.raises(UnreadableImageError, match=r'a\.NEF: .*pip install "viewvote\[raw\]"'):
        open_photo(tmp_path / "a.NEF")


@pytest.mark.parametrize(
    ("brands", "expected"),
    [
        (b"heic\0\0\0\0mif1", True),
        (b"mif1\0\0\0\0mif1", True),
        (b"mif1\0\0\0\0avif", False),
        (b"avif\0\0\0\0mif1", False),
        (b"isom\0\0\0\0mp42", False),
    ],
)
def test_heif_is_known_by_its_brands(brands, expected):
    assert extras.is_heif((8 + len(brands)).to_bytes(4, "big") + b"ftyp" + brands + b"rest") is expected


def test_pillow_opens_avif_itself():
    held = io.BytesIO()
    halves().save(held, "AVIF")
    assert not extras.is_heif(held.getvalue())
    assert close(open_photo(held.getvalue()).full(), halves())


@pytest.mark.parametrize(
    ("orientation", "size", "corner"), [(1, (320, 240), 0), (6, (240, 320), 0), (3, (320, 240), 2)]
)
def test_the_preview_of_a_raw_photograph_is_upright(tmp_path, orientation, size, corner):
    pytest.importorskip("rawpy")
    path = tmp_path / "DSC_1.dng"
    path.write_bytes(dng(halves(320, 240), orientation=orientation))
    photo = open_photo(path)
    assert photo.size == size
    blue = photo.full().getpixel((5, 5))[2] > 200
    assert blue is (corner == 0)


def test_a_raw_photograph_without_a_preview_and_one_that_is_none_are_errors(tmp_path):
    pytest.importorskip("rawpy")
    for name, data in (("bare.dng", dng(None)), ("text.cr2", b"not a photograph")):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(UnreadableImageError, match=rf"{name}: no preview in this raw photograph \(.+\)"):
            open_photo(tmp_path / name)
