"""Bytes of images: from regular files only, and never more of them than the limit needs."""

import os
import socket

import numpy as np
import pytest

from tests.conftest import draw_photo
from tests.images.image_files import encode
from viewvote.errors import ImageTooLargeError, UnreadableImageError
from viewvote.images.photo import ImageLimits, open_photo, pinned


def test_a_named_pipe_is_refused_without_waiting_for_its_writer(tmp_path):
    os.mkfifo(tmp_path / "pipe.jpg")
    with pytest.raises(UnreadableImageError, match=r"pipe\.jpg: it is a named pipe, and only regular files are opened"):
        open_photo(tmp_path / "pipe.jpg")


def test_sockets_devices_and_folders_are_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # the path of a socket is short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("s.jpg")
        for path, kind in (("s.jpg", "a socket"), (os.devnull, "a device"), (".", "a directory")):
            with pytest.raises(UnreadableImageError, match=f"it is {kind}, and only regular files are opened"):
                open_photo(path)


def test_a_link_to_a_regular_file_is_followed(tmp_path):
    (tmp_path / "photo.png").write_bytes(encode(draw_photo(24, 16)))
    (tmp_path / "link.png").symlink_to("photo.png")
    assert open_photo(tmp_path / "link.png").size == (24, 16)


@pytest.mark.parametrize(
    ("path", "named"),
    [
        ("one/\x00cat.jpg", r"cannot read one/\\x00cat\.jpg: (\w+: )?embedded null (byte|character)"),
        ("a\ud800b.jpg", r"cannot read a\\ud800b\.jpg: its path holds characters that no file name can have"),
        ("a" * 5000, r"cannot read a{100} \.\.\. a{100}: File name too long"),
        ("", "cannot read '': No such file or directory"),
    ],
)
def test_a_path_that_no_file_can_have_is_that_images_error(path, named):
    with pytest.raises(UnreadableImageError, match=named):
        open_photo(path)


class Uncopied(np.ndarray):
    """Zeros that may not be copied."""

    def copy(self, order="C"):
        raise AssertionError("copied")


def test_an_array_over_the_limit_is_refused_before_it_is_copied():
    array = np.zeros((40, 30, 3), np.uint8).view(Uncopied)
    with pytest.raises(ImageTooLargeError, match="array has 30 x 40 pixels; the limit is 1,000 pixels"):
        pinned(array, limits=ImageLimits(max_pixels=1000))


def test_a_buffer_over_the_limit_is_refused_before_it_is_copied():
    with pytest.raises(ImageTooLargeError, match="60 bytes has 60 bytes; the limit is 50 bytes"):
        pinned(bytearray(60), limits=ImageLimits(max_bytes=50))
    with pytest.raises(ImageTooLargeError, match="64 bytes; the limit is 50 bytes"):
        open_photo(memoryview(np.zeros(8)), limits=ImageLimits(max_bytes=50))


def test_a_file_object_that_fails_is_an_unreadable_image():
    class Failing:
        name = "cloud.jpg"

        def read(self, size):
            raise KeyError("no such bucket")

    for use in (open_photo, pinned):
        with pytest.raises(UnreadableImageError, match=r"cannot read cloud\.jpg: 'no such bucket'"):
            use(Failing())
