"""Folders here and in a store: whole files, names that are taken once."""

import pytest

from viewvote.bulk import folder
from viewvote.bulk.folder import LocalFolder, StoreFolder
from viewvote.errors import RunWriteError

pytest.importorskip("fsspec")


@pytest.fixture(params=["local", "store"])
def place(request, tmp_path):
    if request.param == "local":
        return LocalFolder(tmp_path / "t.parquet", scratch=tmp_path / "scratch")
    return StoreFolder(f"memory://{tmp_path.name}/t.parquet")


def test_a_name_is_taken_once(place):
    assert place.create("deep/a", b"first")
    assert not place.create("deep/a", b"second")
    assert place.read("deep/a") == b"first"
    place.write("deep/a", b"third")
    assert place.read("deep/a") == b"third"
    assert list(place.names("deep")) == ["a"]
    place.remove("deep/a")
    assert place.read("deep/a") is None
    assert list(place.names("deep")) == []
    assert list(place.names("nowhere")) == []


def test_where_there_are_no_links_a_name_is_taken_once_too(tmp_path, monkeypatch):
    def refuse(*args, **kwargs):
        raise PermissionError("no links here")

    monkeypatch.setattr(folder.os, "link", refuse)
    place = LocalFolder(tmp_path)
    assert place.create("a", b"first")
    assert not place.create("a", b"second")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_place_that_cannot_be_written_is_told(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(RunWriteError, match=f"cannot write {tmp_path}/file/x"):
        LocalFolder(tmp_path / "file").create("x", b"")
