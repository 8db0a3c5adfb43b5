"""An image that is piped in, or a list of paths."""

import io
import os
from types import SimpleNamespace

import pytest
from PIL import Image

from viewvote.errors import UsageError
from viewvote.images.photo import ImageLimits
from viewvote.sources import Skipped, find_listed, listed_paths, read_stdin, stdin

LIMIT = ImageLimits().max_bytes


def test_standard_input_is_read_up_to_the_limit(monkeypatch):
    piped = io.BytesIO(bytes(LIMIT + 100))
    monkeypatch.setattr(stdin.sys, "stdin", SimpleNamespace(buffer=piped, isatty=lambda: False))
    assert len(read_stdin()) == LIMIT + 1  # enough to be refused
    assert piped.tell() == LIMIT + 1


@pytest.mark.parametrize("nothing", [None, SimpleNamespace(isatty=lambda: True)])
def test_a_terminal_and_a_closed_stream_are_nothing_piped_in(monkeypatch, nothing):
    monkeypatch.setattr(stdin.sys, "stdin", nothing)
    with pytest.raises(UsageError, match="nothing is piped in"):
        read_stdin()


@pytest.mark.parametrize(
    ("data", "paths"),
    [
        (b"a.jpg\nb c.jpg\n", ["a.jpg", "b c.jpg"]),
        (b"a.jpg\r\n\r\nb.jpg", ["a.jpg", "b.jpg"]),
        (b"a.jpg\0two\nlines.jpg\0", ["a.jpg", "two\nlines.jpg"]),
        ("日本.jpg\n".encode(), ["日本.jpg"]),
        (b"P3 photo.jpg", None),
        (b"P3.jpg", ["P3.jpg"]),
        (b"caf\xe9.jpg\n", None),
        (b"", None),
        (b"\n\n", None),
        (b"GIF89a\x01\x00\x01\x00", None),
        (b"\x89PNG\r\n\x1a\n", None),
        (b"\xff\xd8\xff\xe0", None),
        (b"P6\n2 2\n255\nabcabcabcabc", None),
    ],
)
def test_paths_are_told_from_an_image(data, paths):
    assert listed_paths(data) == paths


def test_no_image_is_taken_for_paths():
    image = Image.new("RGB", (20, 20), (10, 60, 200))
    for fmt in ("PNG", "JPEG", "GIF", "BMP", "WEBP", "TIFF", "ICO", "PPM", "TGA", "JPEG2000", "AVIF"):
        held = io.BytesIO()
        image.save(held, fmt)
        assert listed_paths(held.getvalue()) is None, fmt


def test_names_that_are_no_text_are_paths_where_the_first_is_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name = b"caf\xe9.jpg"
    (tmp_path / os.fsdecode(name)).touch()
    assert listed_paths(name + b"\nother.jpg\n") == [os.fsdecode(name), "other.jpg"]


def test_folders_of_a_list_stand_for_their_images_and_what_is_missing_for_itself(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("photos/a.jpg", "photos/b.txt", "empty/c.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    skipped = Skipped()
    listed = ["photos", "photos/a.jpg", "empty", "gone.jpg", "[x].jpg"]
    assert find_listed(listed, report=pytest.fail, skipped=skipped) == ["photos/a.jpg", "gone.jpg", "[x].jpg"]
    assert skipped.kinds == {".txt": 1}
