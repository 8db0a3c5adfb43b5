"""Every kind of picture and array to upright RGB."""

import io

import numpy as np
import pytest
from PIL import Image

from tests.images.image_files import AVIF, QUADRANTS, encode, pixels
from viewvote.errors import UsageError
from viewvote.images import rgb
from viewvote.images.photo import open_photo
from viewvote.images.rgb import array_to_image

WITH_EXIF = ["JPEG", "PNG", "WEBP", "TIFF", *AVIF]


def turned(orientation):
    """The quadrants, twelve pixels each and twice as tall, as a camera held like this stores them."""
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
    return stored.repeat(24, axis=0).repeat(12, axis=1)


@pytest.mark.parametrize("fmt", WITH_EXIF)
@pytest.mark.parametrize("orientation", range(1, 9))
def test_exif_orientation_is_undone_once(fmt, orientation):
    exif = Image.Exif()
    exif[0x0112] = orientation
    data = encode(Image.fromarray(turned(orientation)), fmt, exif=exif)
    for source in (data, Image.open(io.BytesIO(data))):
        photo = open_photo(source)
        upright = np.asarray(photo.full())
        assert photo.size == upright.shape[1::-1] == ((48, 24) if orientation >= 5 else (24, 48))
        corners = upright[[3, 3, -4, -4], [3, -4, 3, -4]].astype(int)
        assert np.abs(corners - QUADRANTS.reshape(4, 3)).max() < 60  # some formats lose a little


def test_a_tiff_turned_by_its_xmp_alone_tells_the_size_it_decodes_to():
    xmp = b'<x:xmpmeta><rdf:Description tiff:Orientation="6"/></x:xmpmeta>'
    photo = open_photo(encode(Image.fromarray(turned(6)), "TIFF", tiffinfo={700: xmp}))
    assert photo.size == photo.full().size  # older Pillows do not turn it


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


def test_integers_of_a_pil_image_are_eight_bits_where_they_fit():
    grey = np.array([[0, 7, 255]], dtype=np.int32)
    assert pixels(Image.fromarray(grey))[0, :, 0].tolist() == [0, 7, 255]
    assert pixels(Image.fromarray(grey - 5))[0, :, 0].tolist() == [0, 2, 250]  # clipped, not wrapped
    assert pixels(Image.fromarray(grey.astype(np.uint16)))[0, :, 0].tolist() == [0, 0, 1]


def test_a_dark_file_of_sixteen_bits_stays_dark():
    dark = b"P5 3 1 65535\n" + np.array([0, 100, 255], dtype=">u2").tobytes()
    assert pixels(dark)[0, :, 0].tolist() == [0, 0, 1]


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


def naive_rgb(image, orientation, factor):
    """The whole image at a time: turned, over white, 16 bits rounded to 8 as floats, then reduced."""
    turns = {2: 0, 3: 3, 4: 1, 5: 5, 6: 4, 7: 6, 8: 2}  # as Image.Transpose numbers them
    if orientation != 1:
        image = image.transpose(turns[orientation])
    if image.mode == "I;16":
        image = Image.fromarray(np.rint(np.asarray(image) / 257).astype(np.uint8))
    if image.has_transparency_data:
        image = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image)
    image = image.convert("RGB")
    return np.asarray(image if factor == 1 else image.reduce(factor))


def picture_of(mode):
    """A picture of 61 x 47 pixels, with a transparent colour where the mode has none by itself."""
    rng = np.random.default_rng(0)
    if mode == "I;16":
        return Image.fromarray(rng.integers(0, 65536, (47, 61), dtype=np.uint16))
    channels = Image.fromarray(rng.integers(0, 256, (47, 61, 4), dtype=np.uint8))
    if mode == "P with alpha":
        image = channels.convert("RGB").quantize(200)
        image.info["transparency"] = bytes(range(55, 255))
        return image
    if mode.endswith(" with a clear colour"):
        image = channels.convert("RGB").convert(mode.split()[0])
        image.info["transparency"] = image.getpixel((3, 5))
        return image
    return (
        channels.convert("LA")
        if mode == "LA"
        else channels
        if mode == "RGBA"
        else channels.convert("RGB").convert(mode)
    )


MODES = ["RGB", "L", "1", "P", "RGBA", "LA", "CMYK", "YCbCr", "I;16", "P with alpha"]
CLEAR = [f"{mode} with a clear colour" for mode in ("RGB", "L", "P")]


@pytest.mark.parametrize("strip", [1, 300, 1 << 20])
@pytest.mark.parametrize("mode", [*MODES, *CLEAR])
def test_strips_of_any_height_are_the_whole_image_turned_and_reduced(monkeypatch, mode, strip):
    monkeypatch.setattr(rgb, "STRIP", strip)
    image = picture_of(mode)
    for orientation in range(1, 9):
        for factor in (1, 2, 4, 8):
            found = rgb.to_rgb(image, orientation=orientation, factor=factor)
            assert found.mode == "RGB"
            np.testing.assert_array_equal(np.asarray(found), naive_rgb(image, orientation, factor))


def test_every_number_of_sixteen_bits_goes_to_the_nearest_of_eight():
    every = np.arange(65536, dtype=np.uint16).reshape(256, 256)
    expected = np.rint(every / 257)
    assert np.array_equal(pixels(every)[..., 0], expected)
    assert np.array_equal(pixels(encode(Image.fromarray(every)))[..., 0], expected)
