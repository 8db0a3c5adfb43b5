"""What is found out about a file before it is decoded, and refused: sides, scans, pieces, decoders in Python."""

import io
import struct
import zlib

import numpy as np
import pytest
from PIL import Image

from tests.conftest import draw_photo
from tests.images.image_files import encode, pixels
from viewvote.errors import ImageTooLargeError, UnreadableImageError
from viewvote.images.markers import count_scans
from viewvote.images.photo import ImageLimits, open_photo


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def exif_chunk(orientation):
    exif = Image.Exif()
    exif[0x0112] = orientation
    return chunk(b"eXIf", exif.tobytes().removeprefix(b"Exif\x00\x00"))


def png_with(before=b"", after=b""):
    """A PNG of 100 x 40 with chunks before and after its pixels."""
    data = encode(draw_photo(100, 40))
    start = data.index(b"IDAT") - 4
    return data[:start] + before + data[start:-12] + after + data[-12:]


@pytest.mark.parametrize(
    ("before", "after", "size"),
    [(1, 6, (40, 100)), (6, 1, (100, 40)), (None, 6, (40, 100)), (6, None, (40, 100)), (None, None, (100, 40))],
)
def test_size_and_pixels_agree_on_the_turn_wherever_a_png_tells_it(before, after, size):
    chunks = [b"" if turn is None else exif_chunk(turn) for turn in (before, after)]
    photo = open_photo(png_with(*chunks))
    assert photo.size == photo.full().size == size  # of two, the last counts
    assert photo.levels({2})[2].size == (size[0] // 2, size[1] // 2)


def test_a_size_that_changes_while_decoding_is_an_error(monkeypatch):
    from viewvote.images import decode

    photo = open_photo(encode(draw_photo(100, 40)))
    monkeypatch.setattr(decode, "to_rgb", lambda *_, **__: Image.new("RGB", (40, 100)))
    with pytest.raises(UnreadableImageError, match="its pixels have another size than its header says"):
        photo.full()


def test_a_side_over_the_limit_is_refused():
    long = encode(Image.new("1", (70_000, 2)))
    with pytest.raises(ImageTooLargeError, match=r"has 70000 x 2 pixels; the limit is 65,535 pixels a side"):
        open_photo(long)
    assert open_photo(long, limits=ImageLimits(max_side=70_000)).size == (70_000, 2)


def webp(width, height):
    """The first bytes of an animated WebP with a canvas of that size."""
    canvas = b"\x02\0\0\0" + (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    body = b"WEBPVP8X" + struct.pack("<I", 10) + canvas
    return b"RIFF" + struct.pack("<I", len(body)) + body


def test_the_canvas_of_a_webp_is_checked_before_there_is_memory_for_it():
    with pytest.raises(ImageTooLargeError, match="3175681 x 36 pixels; the limit is 65,535 pixels a side"):
        open_photo(webp(3_175_681, 36))
    with pytest.raises(ImageTooLargeError, match="15000 x 15000 pixels; the limit is 178,956,970 pixels"):
        open_photo(webp(15_000, 15_000))


def jpeg_of(scans):
    """A progressive JPEG whose last scan is repeated until there are so many."""
    data = encode(Image.new("L", (64, 64), 90), "JPEG", progressive=True)
    start = data.rindex(b"\xff\xda")
    found = data.count(b"\xff\xda")
    return data[:-2] + data[start:-2] * (scans - found) + data[-2:]


def test_scans_are_counted_before_anything_is_decoded():
    assert count_scans(jpeg_of(40), "", most=100) == 40
    assert count_scans(jpeg_of(3000), "", most=100) == 101
    assert open_photo(jpeg_of(100)).size == (64, 64)
    with pytest.raises(ImageTooLargeError, match="more than 100 scans; the limit is 100 scans"):
        open_photo(jpeg_of(101))


def test_a_frame_header_that_ends_too_early_is_no_image():
    with pytest.raises(UnreadableImageError):
        open_photo(b"\xff\xd8\xff\x00\xff\xc0\x00\x00")


def test_scans_of_a_thumbnail_or_of_what_follows_the_image_do_not_count():
    inner = encode(draw_photo(20, 20), "JPEG", progressive=True)
    exif = b"\xff\xe1" + struct.pack(">H", len(inner) + 8) + b"Exif\0\0" + inner
    data = encode(draw_photo(64, 64), "JPEG")
    assert count_scans(data[:2] + exif + data[2:] + inner, "", most=100) == 1


def test_a_header_in_millions_of_pieces_is_refused():
    data = encode(draw_photo(8, 8), "JPEG")
    with pytest.raises(UnreadableImageError, match="more than 10,000 segments"):
        open_photo(data[:2] + b"\xff\xfe\x00\x02" * 20_000 + data[2:])
    with pytest.raises(UnreadableImageError, match="more than 10,000 chunks"):
        open_photo(png_with(chunk(b"abCd", b"") * 20_000))
    gif = encode(Image.new("L", (8, 8)), "GIF")
    start = gif.index(b",")
    with pytest.raises(UnreadableImageError, match=r"not an image in a known format|too many small pieces"):
        open_photo(gif[:start] + b"!\xfe\x01a\x00" * 200_000 + gif[start:])
    with pytest.raises(UnreadableImageError, match=r"not an image in a known format|too many small pieces"):
        open_photo(b"P5 #" + b"a" * 1_000_000 + b"\n2 1 255\n\0\0")


def rle_bmp(width, height):
    header = struct.pack("<IiiHHIIiiII", 40, width, height, 1, 8, 1, 4, 0, 0, 2, 2)
    palette = bytes([0, 0, 0, 0, 255, 255, 255, 0])
    body = b"\x02\x01\x00\x01"
    start = 14 + len(header) + len(palette)
    return b"BM" + struct.pack("<IHHI", start + len(body), 0, 0, start) + header + palette + body


@pytest.mark.parametrize(
    ("data", "how"),
    [
        (rle_bmp(2, 1), "BMP that is run-length encoded"),
        (b"P2 2 1 255\n0 255\n", "PPM that is written as text"),
        (b"P5 2 1 15\n\x00\x0f", "PPM that is not of 8 or 16 full bits"),
    ],
)
def test_what_only_python_decodes_is_refused(data, how):
    with pytest.raises(UnreadableImageError, match=f"a {how} takes too long to decode; save it as PNG"):
        open_photo(data)


def test_pixels_that_cannot_all_be_there_are_missed_before_memory_is_taken():
    bmp = encode(Image.new("RGB", (300, 200)), "BMP")
    with pytest.raises(UnreadableImageError, match="truncated"):
        open_photo(bmp[:58])


def test_of_an_animation_the_first_frame_is_decoded_and_no_other(monkeypatch):
    from PIL.WebPImagePlugin import WebPImageFile

    frames = [Image.new("RGB", (40, 30), colour) for colour in ("red", "blue", "green")]
    data = encode(frames[0], "WEBP", save_all=True, append_images=frames[1:], lossless=True)
    decoded = []
    original = WebPImageFile._get_next
    monkeypatch.setattr(WebPImageFile, "_get_next", lambda self: (decoded.append(1), original(self))[1])
    assert pixels(data)[0, 0].tolist() == [255, 0, 0]
    assert len(decoded) == 1


@pytest.mark.parametrize("fmt", ["PNG", "GIF", "TIFF"])
def test_first_frames_of_other_formats(fmt):
    frames = [Image.new("RGB", (4, 4), colour) for colour in ("red", "blue")]
    out = io.BytesIO()
    frames[0].save(out, fmt, save_all=True, append_images=frames[1:])
    assert np.array_equal(pixels(out.getvalue())[0, 0], [255, 0, 0])


def test_floats_of_a_file_that_are_no_grey_levels_are_that_files_error():
    data = encode(Image.fromarray(np.array([[0.5, 7.0]], dtype=np.float32)), "TIFF")
    with pytest.raises(UnreadableImageError, match=r"cannot decode \d+ bytes: a float image must lie in \[0, 1\]"):
        open_photo(data).full()
