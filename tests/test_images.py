"""Decoding: every kind of picture to upright RGB, and every kind of trouble to a clear error."""

import io
from contextlib import suppress

import numpy as np
import pytest
from conftest import draw_photo
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from viewvote.errors import ImageError, ImageTooLargeError, UnreadableImageError, UsageError
from viewvote.images import ImageLimits, array_to_image, open_photo

QUADRANTS = np.array([[[255, 0, 0], [0, 255, 0]], [[0, 0, 255], [255, 255, 255]]], dtype=np.uint8)  # R G / B W


def encode(image, fmt="PNG", **options):
    out = io.BytesIO()
    image.save(out, fmt, **options)
    return out.getvalue()


def pixels(source, **kw):
    return np.asarray(open_photo(source, **kw).full())


def test_path_bytes_file_pil_and_array_give_the_same_pixels(tmp_path):
    image = Image.fromarray(QUADRANTS)
    data = encode(image)
    path = tmp_path / "ünï code.png"
    path.write_bytes(data)
    with path.open("rb") as file:
        for source in (path, str(path), data, bytearray(data), memoryview(data), file, image, QUADRANTS):
            np.testing.assert_array_equal(pixels(source), QUADRANTS)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_exif_orientation_is_undone(orientation):
    # what each orientation means: the stored image is the upright one turned like this
    stored = {
        1: QUADRANTS,
        2: QUADRANTS[:, ::-1],
        3: QUADRANTS[::-1, ::-1],
        4: QUADRANTS[::-1],
        5: QUADRANTS.transpose(1, 0, 2),
        6: np.rot90(QUADRANTS, 1),
        7: np.rot90(QUADRANTS, 2).transpose(1, 0, 2),
        8: np.rot90(QUADRANTS, -1),
    }[orientation]
    exif = Image.Exif()
    exif[0x0112] = orientation
    tall = np.repeat(np.ascontiguousarray(stored), 3, axis=0)
    photo = open_photo(encode(Image.fromarray(tall), exif=exif))
    upright = np.asarray(photo.full())
    assert photo.size == upright.shape[1::-1]
    corners = upright[[0, 0, -1, -1], [0, -1, 0, -1]]
    np.testing.assert_array_equal(corners, QUADRANTS.reshape(4, 3))


def test_a_nonsense_orientation_is_ignored():
    exif = Image.Exif()
    exif[0x0112] = 77
    np.testing.assert_array_equal(pixels(encode(Image.fromarray(QUADRANTS), exif=exif)), QUADRANTS)


def test_alpha_is_laid_over_white():
    half = np.dstack([QUADRANTS, np.array([[255, 128], [0, 255]], dtype=np.uint8)])
    got = pixels(encode(Image.fromarray(half)))
    np.testing.assert_allclose(got[0, 1], [127, 255, 127], atol=1)  # half green, half white
    np.testing.assert_array_equal(got[1, 0], [255, 255, 255])  # fully transparent
    np.testing.assert_array_equal(got[0, 0], [255, 0, 0])


def test_palette_with_a_transparent_entry_is_laid_over_white():
    image = Image.new("P", (2, 1))
    image.putpalette([10, 20, 30, 200, 0, 0])
    image.putdata([0, 1])
    got = pixels(encode(image, transparency=0))
    assert got.tolist() == [[[255, 255, 255], [200, 0, 0]]]


def test_rgb_with_a_transparent_colour_is_laid_over_white():
    data = encode(Image.fromarray(QUADRANTS), transparency=(255, 0, 0))
    assert pixels(data)[0, 0].tolist() == [255, 255, 255]


def test_greyscale_and_grey_alpha_become_rgb():
    assert pixels(encode(Image.new("L", (1, 1), 77))).tolist() == [[[77, 77, 77]]]
    assert pixels(encode(Image.new("LA", (1, 1), (0, 0)))).tolist() == [[[255, 255, 255]]]
    assert pixels(encode(Image.new("1", (1, 1), 1))).tolist() == [[[255, 255, 255]]]


def test_sixteen_bits_are_scaled_to_eight():
    deep = Image.fromarray(np.array([[0, 257, 32896, 65535]], dtype=np.uint16))
    assert pixels(encode(deep))[0, :, 0].tolist() == [0, 1, 128, 255]
    assert pixels(encode(deep, "TIFF"))[0, :, 0].tolist() == [0, 1, 128, 255]
    wide = Image.fromarray(np.array([[0, 70_000, -5]], dtype=np.int32))  # beyond 16 bits: clipped, not wrapped
    assert pixels(wide)[0, :, 0].tolist() == [0, 255, 0]


def test_cmyk_becomes_rgb():
    got = pixels(encode(Image.new("CMYK", (8, 8), (0, 255, 255, 0)), "JPEG"))
    assert got[4, 4, 0] > 200
    assert got[4, 4, 1] < 60


def test_only_the_first_frame_of_an_animation_counts():
    frames = [Image.new("RGB", (4, 4), colour) for colour in ("red", "blue")]
    data = encode(frames[0], "GIF", save_all=True, append_images=frames[1:])
    assert pixels(data)[0, 0].tolist() == [255, 0, 0]


def test_float_images_lie_between_zero_and_one():
    assert pixels(np.array([[0.0, 0.5, 1.0]]))[0, :, 0].tolist() == [0, 128, 255]
    assert pixels(Image.fromarray(np.array([[1.0]], dtype=np.float32))).tolist() == [[[255, 255, 255]]]
    for bad in (1.5, -0.1, np.nan):
        with pytest.raises(UsageError, match="must lie in"):
            open_photo(np.array([[bad]]))


def test_arrays_of_other_types_and_shapes():
    assert pixels(np.array([[True, False]]))[0, :, 0].tolist() == [255, 0]
    assert pixels(np.array([[65535]], dtype=np.uint16)).tolist() == [[[255, 255, 255]]]
    assert pixels(np.full((2, 2, 1), 9, dtype=np.uint8)).shape == (2, 2, 3)
    assert pixels(np.full((2, 2, 4), 255, dtype=np.uint8)).shape == (2, 2, 3)
    with pytest.raises(UsageError, match=r"Channels come last: use array.transpose"):
        array_to_image(np.zeros((3, 20, 20), dtype=np.uint8))
    for bad in (np.zeros(4), np.zeros((0, 4)), np.zeros((2, 2, 2, 2)), np.zeros((4, 4, 7))):
        with pytest.raises(UsageError, match="an image array must be"):
            array_to_image(bad)
    with pytest.raises(UsageError, match="int64"):
        array_to_image(np.zeros((4, 4), dtype=np.int64))


def test_a_missing_file_a_folder_and_text_are_named(tmp_path):
    with pytest.raises(UnreadableImageError, match=r"no-such\.jpg: No such file"):
        open_photo(tmp_path / "no-such.jpg")
    with pytest.raises(UnreadableImageError, match="directory"):
        open_photo(tmp_path)
    note = tmp_path / "note.jpg"
    note.write_text("not a picture")
    with pytest.raises(UnreadableImageError, match=r"note\.jpg: it is not an image"):
        open_photo(note)
    with pytest.raises(UnreadableImageError, match="0 bytes"):
        open_photo(b"")
    with note.open() as text, pytest.raises(UsageError, match="binary mode"):
        open_photo(text)
    with pytest.raises(UsageError, match="got int"):
        open_photo(7)


@pytest.mark.parametrize("fmt", ["JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF"])
def test_a_truncated_file_is_an_error_that_names_it(tmp_path, fmt):
    path = tmp_path / "cut.img"
    data = encode(draw_photo(200, 150), fmt)
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(UnreadableImageError, match=r"cut\.img"):
        open_photo(path).full()


def test_postscript_is_never_opened():
    with pytest.raises(UnreadableImageError, match="not an image in a known format"):
        open_photo(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\n%%EndComments\nshowpage\n")


def test_byte_limit_holds_for_every_source(tmp_path):
    data = encode(draw_photo(100, 100))
    path = tmp_path / "big.png"
    path.write_bytes(data)
    limits = ImageLimits(max_bytes=1000)
    for source in (data, path, io.BytesIO(data)):
        with pytest.raises(ImageTooLargeError, match="1,000 bytes"):
            open_photo(source, limits=limits)


def test_pixel_limit_is_checked_before_decoding():
    data = encode(Image.new("L", (400, 300)))
    for source in (data, Image.new("L", (400, 300))):
        with pytest.raises(ImageTooLargeError, match=r"400 x 300 pixels; the limit is 100,000 pixels"):
            open_photo(source, limits=ImageLimits(max_pixels=100_000))


def test_a_decompression_bomb_is_refused():
    bomb = encode(Image.new("1", (20_000, 10_000)))  # 200 megapixels in a few kilobytes
    assert len(bomb) < 100_000
    with pytest.raises(ImageTooLargeError):
        open_photo(bomb)


def test_a_large_image_within_the_limit_is_opened_without_a_warning():
    assert open_photo(encode(Image.new("1", (10_000, 10_000)))).size == (10_000, 10_000)


def test_the_key_follows_the_content_and_not_the_name(tmp_path):
    data = encode(draw_photo(30, 20))
    (tmp_path / "a.png").write_bytes(data)
    (tmp_path / "b.png").write_bytes(data)
    keys = {open_photo(tmp_path / name).key for name in ("a.png", "b.png")} | {open_photo(data).key}
    assert len(keys) == 1
    assert open_photo(encode(draw_photo(30, 20, seed=1))).key not in keys
    # for loose pixels the shape counts too
    assert open_photo(np.zeros((2, 8), np.uint8)).key != open_photo(np.zeros((4, 4), np.uint8)).key


@pytest.mark.parametrize("fmt", ["JPEG", "PNG"])
@pytest.mark.parametrize("size", [(801, 603), (160, 120), (9, 1000)])
def test_levels_are_the_image_reduced(fmt, size):
    photo = open_photo(encode(draw_photo(*size), fmt, **({"quality": 95} if fmt == "JPEG" else {})))
    full = photo.full()
    for factors in ({2, 4}, {4, 8}, {8}, {1, 8}):
        for factor, level in photo.levels(factors).items():
            assert level.size == (-(-size[0] // factor), -(-size[1] // factor))
            reference = np.asarray(full.reduce(factor), dtype=float)
            assert np.abs(np.asarray(level, dtype=float) - reference).mean() < 4


def test_a_turned_jpeg_is_reduced_upright():
    exif = Image.Exif()
    exif[0x0112] = 6
    photo = open_photo(encode(draw_photo(640, 480), "JPEG", exif=exif))
    assert photo.size == (480, 640)
    assert photo.levels({4})[4].size == (120, 160)


@pytest.mark.filterwarnings("ignore")  # Pillow warns of some damage and reads on
@settings(deadline=None, max_examples=150)
@given(st.data())
def test_damaged_files_never_raise_anything_but_our_own_errors(data):
    fmt = data.draw(st.sampled_from(["JPEG", "PNG", "GIF", "WEBP", "BMP", "TIFF", "PPM", "ICO", "TGA"]))
    raw = bytearray(encode(draw_photo(24, 16), fmt))
    for _ in range(data.draw(st.integers(1, 8))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    with suppress(ImageError):
        assert open_photo(bytes(raw), limits=ImageLimits(max_pixels=10_000_000)).full().mode == "RGB"
