"""Opening and decoding within limits, and every kind of trouble as a clear error."""

import io
import struct
from contextlib import suppress
from tempfile import SpooledTemporaryFile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from PIL.JpegImagePlugin import JpegImageFile
from PIL.PngImagePlugin import PngImageFile, PngInfo

from tests.conftest import draw_photo
from tests.images.image_files import AVIF, QUADRANTS, encode, pixels
from viewvote.errors import ImageError, ImageTooLargeError, UnreadableImageError, UsageError
from viewvote.images import decode as images
from viewvote.images.photo import ImageLimits, open_photo, pinned


def test_path_bytes_file_pil_and_array_give_the_same_pixels(tmp_path):
    image = Image.fromarray(QUADRANTS)
    data = encode(image)
    path = tmp_path / "ünï code.png"
    path.write_bytes(data)
    with path.open("rb") as file:
        for source in (path, str(path), data, bytearray(data), memoryview(data), file, image, QUADRANTS):
            np.testing.assert_array_equal(pixels(source), QUADRANTS)


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


@pytest.mark.skipif(not AVIF, reason="this Pillow has no AVIF")
def test_an_avif_without_its_pixels_is_unreadable():
    data = encode(draw_photo(24, 16), "AVIF")
    start = data.index(b"mdat") + 4
    with pytest.raises(UnreadableImageError, match=r"cannot decode \d+ bytes: .*decode"):
        open_photo(data[:start] + bytes(len(data) - start)).full()


def test_a_pil_image_that_was_closed_is_unreadable(tmp_path):
    draw_photo(24, 16).save(tmp_path / "shut.png")
    with Image.open(tmp_path / "shut.png") as image:
        pass
    with pytest.raises(UnreadableImageError, match=r"shut\.png"):
        open_photo(image)


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
    with pytest.raises(
        ImageTooLargeError, match=r"has 200,000,000 pixels; the limit is 178,956,970 pixels.*--max-pixels"
    ):
        open_photo(bomb)


@pytest.mark.parametrize("fmt", ["PNG", "TIFF", "JPEG", "WEBP", "GIF"])
def test_higher_limits_are_passed_on_to_pillow(monkeypatch, fmt):
    monkeypatch.setattr(images, "_LARGE", 100)
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 1000)  # refuses at 2000 and warns before, as for real at 179 million
    data = encode(Image.new("L", (90, 70)), fmt)
    photo = open_photo(data, limits=ImageLimits(max_pixels=6300))
    assert photo.full().size == (90, 70)
    assert Image.MAX_IMAGE_PIXELS == 1000
    with pytest.raises(ImageTooLargeError, match="90 x 70 pixels; the limit is 6,299 pixels"):
        open_photo(data, limits=ImageLimits(max_pixels=6299))
    with pytest.raises(ImageTooLargeError, match="pixels; the limit is 2,500 pixels"):
        open_photo(data, limits=ImageLimits(max_pixels=2500))
    assert Image.MAX_IMAGE_PIXELS == 1000


def test_an_icon_may_not_hide_a_larger_picture(monkeypatch):
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 1000)
    png = encode(Image.new("L", (90, 70)))
    entry = struct.pack("<BBBBHHII", 16, 16, 0, 0, 1, 32, len(png), 22)
    with pytest.raises(ImageTooLargeError, match="the limit is 2,500 pixels"):
        open_photo(struct.pack("<HHH", 0, 1, 1) + entry + png, limits=ImageLimits(max_pixels=2500))


def test_a_large_image_within_the_limit_is_opened_without_a_warning():
    assert open_photo(encode(Image.new("1", (10_000, 10_000)))).size == (10_000, 10_000)


def test_pinning_leaves_paths_and_bytes_unread(tmp_path):
    for source in (tmp_path / "not there.png", "not there.png", b"not an image"):
        assert pinned(source) is source


def test_a_pinned_image_keeps_its_name_and_the_turn_it_was_given(tmp_path):
    path = tmp_path / "broken.jpg"
    path.write_bytes(b"not an image")
    with path.open("rb") as file:
        held = pinned(file)
    with pytest.raises(UnreadableImageError, match=r"cannot decode .*broken\.jpg"):
        open_photo(held)
    image = Image.new("RGB", (40, 30))
    image.getexif()[0x0112] = 6
    assert open_photo(pinned(image)).size == open_photo(image).size == (30, 40)


def test_limits_hold_for_what_was_pinned_under_others():
    held = pinned(Image.new("L", (400, 300)))
    with pytest.raises(ImageTooLargeError, match="400 x 300 pixels"):
        open_photo(held, limits=ImageLimits(max_pixels=100_000))


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
            assert np.abs(np.asarray(level, dtype=float) - reference).mean() < 5


@pytest.mark.parametrize("size", [(64, 48), (65, 47), (71, 57), (15, 900), (9, 9), (5, 5), (1, 1)])
@pytest.mark.parametrize("factor", [2, 4, 8])
def test_a_jpeg_of_any_size_is_reduced_by_its_decoder(monkeypatch, size, factor):
    drafts = []
    original = JpegImageFile.draft

    def draft(self, mode, wanted):
        drafts.append(self)
        return original(self, mode, wanted)

    monkeypatch.setattr(JpegImageFile, "draft", draft)
    level = open_photo(encode(draw_photo(*size), "JPEG")).levels({factor})[factor]
    assert level.size == (-(-size[0] // factor), -(-size[1] // factor))
    if min(size) >= factor:  # else the decoder reduces as far as the short side allows
        assert drafts[0].size == level.size


def test_a_turned_jpeg_is_reduced_upright():
    exif = Image.Exif()
    exif[0x0112] = 6
    photo = open_photo(encode(draw_photo(640, 480), "JPEG", exif=exif))
    assert photo.size == (480, 640)
    assert photo.levels({4})[4].size == (120, 160)


def turned_png(where):
    """A PNG of 40 x 30 that is to be turned, which it says in one of the three places Pillow looks at."""
    exif = Image.Exif()
    exif[0x0112] = 6
    if where == "eXIf":
        return encode(draw_photo(40, 30), exif=exif)
    text = PngInfo()
    if where == "profile":
        hexes = exif.tobytes().hex()
        text.add_text("Raw profile type exif", f"\nexif\n{len(hexes) // 2}\n{hexes}", zip=True)
    else:
        text.add_itxt("XML:com.adobe.xmp", '<rdf:Description tiff:Orientation="6"/>')
    return encode(draw_photo(40, 30), pnginfo=text)


@pytest.mark.parametrize("where", ["eXIf", "profile", "xmp"])
def test_a_png_is_turned_wherever_it_says_so(where):
    photo = open_photo(turned_png(where))
    assert photo.size == photo.full().size == (30, 40)


def test_a_png_that_says_nothing_of_a_turn_is_decoded_once(monkeypatch):
    decoded = []
    original = PngImageFile.load_end
    monkeypatch.setattr(PngImageFile, "load_end", lambda self: (decoded.append(self), original(self))[1])
    photo = open_photo(encode(draw_photo(40, 30)))
    assert not decoded
    photo.levels({2, 4})
    assert len(decoded) == 1


@pytest.mark.filterwarnings("ignore")  # Pillow warns of some damage and reads on
@settings(deadline=None, max_examples=150)
@given(st.data())
def test_damaged_files_never_raise_anything_but_our_own_errors(data):
    fmt = data.draw(
        st.sampled_from(["JPEG", "PNG", "GIF", "WEBP", "BMP", "TIFF", "PPM", "ICO", "TGA", "JPEG2000", *AVIF])
    )
    raw = bytearray(encode(draw_photo(24, 16), fmt))
    for _ in range(data.draw(st.integers(1, 8))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    with suppress(ImageError):
        assert open_photo(bytes(raw), limits=ImageLimits(max_pixels=10_000_000)).full().mode == "RGB"


def test_a_file_without_a_name_is_not_called_none():
    with SpooledTemporaryFile() as upload:
        upload.write(b"nothing")
        upload.seek(0)
        with pytest.raises(UnreadableImageError, match=r"^cannot decode file object: "):
            open_photo(upload)
