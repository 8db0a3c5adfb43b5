"""Files written whole or not at all, and trees of images."""

import os
import stat
from pathlib import Path

import pytest

from viewvote.files import walk_images, write_best_effort, write_whole


def _names(folder):
    return [path.name for path in folder.iterdir()]


needs_links = pytest.mark.skipif(os.name == "nt", reason="links need rights there")


def test_a_file_is_replaced_as_a_whole_and_nothing_is_left_beside_it(tmp_path):
    path = tmp_path / "summary.json"
    write_whole(path, "old\n")
    write_whole(path, "ä\r\nnew\n")
    assert path.read_bytes() == b"\xc3\xa4\r\nnew\n"
    assert _names(tmp_path) == ["summary.json"]


@pytest.mark.skipif(os.name == "nt", reason="no such permissions there")
def test_others_may_read_what_was_written_as_far_as_the_umask_lets_them(tmp_path):
    before = os.umask(0o027)
    try:
        write_whole(tmp_path / "a", b"1")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640


def test_a_write_that_fails_keeps_the_old_file_and_leaves_nothing_behind(tmp_path, monkeypatch):
    path = tmp_path / "a"
    path.write_text("old")
    monkeypatch.setattr(os, "fsync", _full_disk)
    with pytest.raises(OSError, match="No space left"):
        write_whole(path, "new")
    assert path.read_text() == "old"
    assert _names(tmp_path) == ["a"]


def _full_disk(descriptor):
    raise OSError(28, "No space left on device")


def test_a_cache_is_written_with_its_folders_or_quietly_not_at_all(tmp_path):
    write_best_effort(tmp_path / "new" / "heads" / "a.npy", b"123")
    assert (tmp_path / "new" / "heads" / "a.npy").read_bytes() == b"123"
    (tmp_path / "file").touch()
    write_best_effort(tmp_path / "file" / "a.npy", b"123")
    assert (tmp_path / "file").read_bytes() == b""


def test_images_are_found_by_their_endings_with_or_without_hidden_ones(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a.JPG", "sub/b.png", "sub/.c.png", ".git/d.png", "notes.txt", ".png"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    endings = {".jpg", ".png"}
    assert sorted(walk_images(".", endings=endings)) == [
        str(Path(".git/d.png")),
        "a.JPG",
        str(Path("sub/.c.png")),
        str(Path("sub/b.png")),
    ]
    assert sorted(walk_images(tmp_path, endings=endings, hidden=False)) == [
        str(tmp_path / "a.JPG"),
        str(tmp_path / "sub" / "b.png"),
    ]


@needs_links
def test_a_real_folder_is_visited_once_and_under_its_own_name(tmp_path):
    (tmp_path / "all" / "photos").mkdir(parents=True)
    (tmp_path / "all" / "photos" / "a.jpg").touch()
    (tmp_path / "all" / "best").symlink_to(tmp_path / "all" / "photos")  # sorts before the real one
    (tmp_path / "all" / "photos" / "up").symlink_to(tmp_path / "all")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "b.jpg").touch()
    for name in ("x", "y"):
        (tmp_path / "all" / name).symlink_to(tmp_path / "elsewhere")
    found = list(walk_images(tmp_path / "all", endings={".jpg"}))
    assert found == [str(tmp_path / "all" / "photos" / "a.jpg"), str(tmp_path / "all" / "x" / "b.jpg")]


def test_a_folder_that_cannot_be_listed_is_reported(tmp_path):
    errors = []
    assert list(walk_images(tmp_path / "nowhere", endings={".jpg"}, on_error=errors.append)) == []
    assert [error.filename for error in errors] == [str(tmp_path / "nowhere")]
    assert list(walk_images(tmp_path / "nowhere", endings={".jpg"})) == []
