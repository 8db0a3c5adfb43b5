"""Images that come into a folder: given out once each, and not before they are whole."""

import pytest
from PIL import Image

from viewvote.errors import UsageError
from viewvote.sources import Watcher


def put(path, text="whole"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return str(path)


def test_what_is_there_and_what_comes_is_given_out_once(tmp_path):
    old, deep = put(tmp_path / "b.jpg"), put(tmp_path / "deep" / "a.png")
    put(tmp_path / "notes.txt")
    put(tmp_path / ".copying.jpg")
    watcher = Watcher(str(tmp_path))
    watcher.leave([put(tmp_path / "known.jpg")])
    assert watcher.look() == []  # nothing is known of their growth yet
    assert watcher.look() == [old, deep]
    new = put(tmp_path / "new.jpg")
    assert [watcher.look() for _ in range(3)] == [[], [new], []]


def test_a_file_that_grows_or_is_empty_waits(tmp_path):
    watcher = Watcher(str(tmp_path))
    path = tmp_path / "a.jpg"
    for text in ("", "", "h", "ha", "hal", "half"):
        put(path, text)
        assert watcher.look() == []
    assert watcher.look() == [str(path)]


def test_an_image_that_failed_is_given_out_again_if_it_changes(tmp_path):
    watcher = Watcher(str(tmp_path))
    path = put(tmp_path / "a.jpg", "half")
    assert [watcher.look() for _ in range(2)] == [[], [path]]
    watcher.failed(path)
    assert [watcher.look() for _ in range(3)] == [[], [], []]
    put(tmp_path / "a.jpg", "whole now")
    assert [watcher.look() for _ in range(3)] == [[], [path], []]


def test_the_folder_of_our_own_pictures_and_files_that_go_are_left_out(tmp_path):
    watcher = Watcher(str(tmp_path), leave_out=[tmp_path / "why"])
    put(tmp_path / "why" / "a.webp")
    put(tmp_path / "why not.webp")
    gone = tmp_path / "gone.jpg"
    put(gone)
    (tmp_path / "broken.jpg").symlink_to(tmp_path / "nowhere.jpg")
    assert watcher.look() == []
    gone.unlink()
    assert watcher.look() == [str(tmp_path / "why not.webp")]


def test_only_a_folder_can_be_watched(tmp_path):
    Image.new("RGB", (9, 9)).save(tmp_path / "a.png")
    for name in ("a.png", "nowhere"):
        with pytest.raises(UsageError, match=r"--watch .* is no folder"):
            Watcher(str(tmp_path / name))
