"""Decoding in a process apart: the same pixels and errors, and an end to whatever does not end by itself."""

import os
import signal
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.conftest import draw_photo
from tests.images.image_files import AVIF, encode
from viewvote.errors import ImageTooLargeError, UnreadableImageError
from viewvote.images import apart, header
from viewvote.images.decode import decode
from viewvote.images.header import read_header
from viewvote.images.photo import ImageLimits, open_photo

LIMITS = ImageLimits()


@pytest.fixture
def worker():
    """The process that the next image is decoded in."""
    open_photo(encode(draw_photo(8, 8), "TIFF"))
    return apart._idle[os.getpid()][-1].process


@pytest.mark.parametrize("fmt", ["TIFF", "JPEG2000", "ICO", *AVIF])
def test_the_pixels_are_those_of_decoding_here(fmt):
    data = encode(draw_photo(100, 60), fmt)
    here = read_header(data, "", LIMITS)
    photo = open_photo(data)
    assert here.apart
    assert photo.size == here.upright
    for factor in (1, 2):
        expected = decode(data, "", here, factor=factor, limits=LIMITS)
        np.testing.assert_array_equal(np.asarray(photo.levels({factor})[factor]), np.asarray(expected))


@pytest.mark.parametrize(("fmt", "options"), [("JPEG", {"progressive": True}), ("PNG", {}), ("WEBP", {}), ("GIF", {})])
def test_large_images_are_decoded_apart_in_several_strips(monkeypatch, fmt, options):
    monkeypatch.setattr(header, "LONG_PIXELS", 1000)
    data = encode(draw_photo(1300, 900), fmt, **options)
    photo = open_photo(data)
    here = read_header(data, "", LIMITS)
    assert here.apart
    expected = decode(data, "", here, factor=1, limits=LIMITS)
    np.testing.assert_array_equal(np.asarray(photo.full()), np.asarray(expected))


def test_ordinary_photographs_are_decoded_here(monkeypatch):
    def start(self):
        raise AssertionError("a process was started")

    monkeypatch.setattr(apart._Worker, "__init__", start)
    monkeypatch.setattr(apart, "_idle", {})
    for fmt in ("JPEG", "PNG", "WEBP", "GIF", "BMP", "PPM", "TGA"):
        assert open_photo(encode(draw_photo(64, 48), fmt)).full().size == (64, 48)


def test_errors_are_those_of_decoding_here():
    data = encode(draw_photo(100, 60), "TIFF")
    with pytest.raises(ImageTooLargeError, match=r"100 x 60 pixels; the limit is 50 pixels"):
        open_photo(data, limits=ImageLimits(max_pixels=50))
    with pytest.raises(UnreadableImageError, match="cannot decode 16 bytes: it is not an image in a known format"):
        open_photo(data[:16])


def test_one_process_serves_image_after_image(worker):
    for seed in range(3):
        open_photo(encode(draw_photo(20, 16, seed=seed), "TIFF")).full()
    with pytest.raises(UnreadableImageError):
        open_photo(b"II*\0" + bytes(20))
    assert [one.process for one in apart._idle[os.getpid()]][-1] is worker


def test_a_decoder_that_does_not_end_is_stopped(worker):
    data = encode(draw_photo(20, 16), "TIFF")
    os.kill(worker.pid, signal.SIGSTOP)  # as a decoder that goes on without end, whatever it is asked
    with pytest.raises(UnreadableImageError, match=r"cannot decode \d+ bytes: it was not decoded within 0\.2 seconds"):
        open_photo(data, limits=ImageLimits(decode_seconds=0.2))
    assert worker.returncode == -signal.SIGKILL
    assert open_photo(data).size == (20, 16)  # by another process


def test_a_process_that_died_while_idle_is_replaced(worker):
    worker.kill()
    worker.wait()
    assert open_photo(encode(draw_photo(20, 16), "TIFF")).size == (20, 16)


def test_a_crash_of_the_decoder_is_that_images_error(worker, monkeypatch):
    ask = apart._Worker.ask

    def killed(self, *args, **kwargs):
        os.kill(self.process.pid, signal.SIGSEGV)
        return ask(self, *args, **kwargs)

    monkeypatch.setattr(apart._Worker, "ask", killed)
    with pytest.raises(UnreadableImageError, match="the process that decoded it ended"):
        open_photo(encode(draw_photo(20, 16), "TIFF"))


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_process_ends_by_itself_after_the_deadline(worker):
    open_photo(encode(draw_photo(20, 16), "TIFF"), limits=ImageLimits(decode_seconds=5))
    status = Path(f"/proc/{worker.pid}/status").read_text().splitlines()
    caught = int(next(line.split()[1] for line in status if line.startswith("SigCgt")), 16)
    assert not caught >> (signal.SIGALRM - 1) & 1  # the system ends it, whatever it is busy with


def test_its_memory_is_limited_by_the_system(tmp_path):
    wide = Image.new("RGB", (6000, 6000))
    data = encode(wide, "TIFF", compression="tiff_lzw")
    limits = ImageLimits(decode_memory=450_000_000)
    assert open_photo(data, limits=limits).size == (6000, 6000)
    with pytest.raises((UnreadableImageError, ImageTooLargeError), match=r"memory|needs about"):
        open_photo(data, limits=ImageLimits(decode_memory=60_000_000)).full()


def test_a_forked_child_has_processes_of_its_own(worker):
    child = os.fork()
    if child == 0:
        try:
            size = open_photo(encode(draw_photo(20, 16), "TIFF")).size
            os._exit(0 if size == (20, 16) and apart._idle[os.getpid()][0].process.pid != worker.pid else 1)
        finally:
            os._exit(2)
    while (ended := os.waitpid(child, os.WNOHANG))[0] == 0:
        time.sleep(0.05)
    assert os.waitstatus_to_exitcode(ended[1]) == 0
    assert worker.poll() is None
