"""What the path of an image, a folder, a pattern and - stand for."""

import os
import subprocess
import sys
from contextlib import contextmanager

import pytest
from PIL import Image

from viewvote.errors import UsageError
from viewvote.images import extras
from viewvote.sources import Skipped, find_images


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder to stand in, with photos/a.jpg and album/b.png."""
    monkeypatch.chdir(tmp_path)
    tmp_path.chmod(0o755)
    for name in ("photos/a.jpg", "album/b.png"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).touch()
    return tmp_path


def expand(arguments):
    """The images that the arguments name, where there is nothing to report."""
    return find_images(arguments, report=pytest.fail)


@contextmanager
def nobody():
    """Whoever runs the tests, without the right to look everywhere."""
    me = os.geteuid()
    if me == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(me)


def test_a_linked_folder_is_searched(folder):
    (folder / "photos" / "link").symlink_to(folder / "album")
    assert expand(["photos"]) == ["photos/a.jpg", "photos/link/b.png"]
    (folder / "top").symlink_to(folder / "photos")
    assert expand(["top"]) == ["top/a.jpg", "top/link/b.png"]


def test_links_in_a_circle_end(folder):
    (folder / "photos" / "self").symlink_to(folder / "photos")
    (folder / "photos" / "up").symlink_to(folder)
    (folder / "album" / "across").symlink_to(folder / "photos")
    assert expand(["photos"]) == ["photos/a.jpg", "photos/up/album/b.png"]


def test_a_photo_in_two_places_goes_by_the_folder_it_is_in(folder):
    (folder / "all").mkdir()
    (folder / "photos").rename(folder / "all" / "photos")
    (folder / "all" / "best").symlink_to(folder / "all" / "photos")  # sorts before the real one
    assert expand(["all"]) == ["all/photos/a.jpg"]


def test_only_files_with_the_endings_of_images_are_found(folder):
    for name in ("B.JPG", "notes.txt", ".hidden.png"):
        (folder / "photos" / name).touch()
    (folder / "photos" / "folder.png").mkdir()
    (folder / "photos" / "broken.png").symlink_to("nowhere")
    os.mkfifo(folder / "photos" / "pipe.png")
    assert expand(["photos"]) == ["photos/.hidden.png", "photos/B.JPG", "photos/a.jpg"]


def test_a_pipe_that_is_named_is_taken_for_an_image(folder):
    os.mkfifo(folder / "pipe")
    assert expand(["pipe", "photos/a.jpg"]) == ["pipe", "photos/a.jpg"]


def test_the_output_of_a_program_is_classified_from_standard_input(tmp_path):
    Image.new("RGB", (30, 20), (250, 0, 0)).save(tmp_path / "red.png")
    run = f"'{sys.executable}' -m viewvote classify --labels red,green --model toy --views 4 --format csv"
    done = subprocess.run(["bash", "-c", f"cat red.png | {run} -"], cwd=tmp_path, capture_output=True, timeout=60)
    assert done.stderr == b""
    assert [line.split(b",")[1] for line in done.stdout.splitlines()] == [b"label", b"red"]
    done = subprocess.run(["bash", "-c", f"{run} <(cat red.png)"], cwd=tmp_path, capture_output=True, timeout=60)
    assert done.returncode == 1
    assert b"it is a named pipe, and only regular files are opened (or '-', standard input)" in done.stderr


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("nowhere.jpg", "no such file or folder: nowhere.jpg"),
        ("", "no such file or folder: ''"),
        ("photos/a.jpg/b.jpg", "no such file or folder"),
        ("n" * 300, "cannot look at n+: File name too long"),
        ("n" * 300 + "/*.jpg", "matches no file"),
        ("photos/*.gif", "matches no file"),
    ],
)
def test_what_is_not_there_is_a_usage_mistake(folder, argument, message):
    with pytest.raises(UsageError, match=message):
        expand([argument])


def test_a_folder_one_may_not_look_into_is_a_usage_mistake(folder):
    (folder / "photos").chmod(0)
    with nobody():
        for argument in ("photos", "photos/a.jpg"):
            with pytest.raises(UsageError, match=f"cannot look at {argument}: Permission denied"):
                expand([argument])


def test_a_forbidden_folder_inside_is_reported_and_left_out(folder):
    (folder / "photos" / "private").mkdir(mode=0)
    reports = []
    with nobody():
        assert find_images(["photos"], report=reports.append) == ["photos/a.jpg"]
    assert reports == ["cannot look at photos/private: Permission denied; it is left out."]


def test_what_is_no_image_is_counted_by_kind(folder):
    for name in ("x.txt", "y.TXT", ".hidden", "Makefile"):
        (folder / "photos" / name).touch()
    (folder / "photos" / "gone.jpg").symlink_to(folder / "nowhere.jpg")
    os.mkfifo(folder / "photos" / "pipe.jpg")
    skipped = Skipped()
    assert not skipped
    assert find_images(["photos", "album"], report=pytest.fail, skipped=skipped) == ["photos/a.jpg", "album/b.png"]
    assert skipped.kinds == {".txt": 2, "without ending": 1, "broken links": 1, "no files": 1}
    assert str(skipped).startswith("5 files skipped: .txt 2, ")
    assert str(skipped).endswith(".")


def test_many_kinds_are_summed_up():
    skipped = Skipped()
    skipped.kinds.update({f".{kind}": 20 - kind for kind in range(10)})
    assert str(skipped) == "155 files skipped: .0 20, .1 19, .2 18, .3 17, .4 16, .5 15, others 50."


def test_photographs_behind_an_extra_are_advised_of(folder, monkeypatch):
    monkeypatch.setattr(extras, "find_spec", lambda module: None)
    for name in ("photos/c.heic", "photos/d.CR2", "phone/e.HEIC"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).touch()
    skipped = Skipped()
    assert find_images(["photos"], report=pytest.fail, skipped=skipped) == ["photos/a.jpg"]
    assert "2 files skipped: .cr2 1, .heic 1. HEIC and HEIF need: pip install" in str(skipped)
    assert 'pip install "viewvote[heic]"' in str(skipped)
    assert 'pip install "viewvote[raw]"' in str(skipped)
    with pytest.raises(UsageError, match=r"phone holds no images .*skipped: \.heic 1\..*viewvote\[heic\]"):
        expand(["phone"])
    monkeypatch.setattr(extras, "find_spec", lambda module: object())
    assert expand(["phone", "photos"]) == ["phone/e.HEIC", "photos/a.jpg", "photos/c.heic", "photos/d.CR2"]
