"""The tower's file: checked, and rewritten once."""

from hashlib import sha256
from pathlib import Path

import pytest

from tests.encoders.clip_b16.tiny_tower import make_weights, save_tower
from viewvote.encoders.clip_b16 import tower as clip_tower
from viewvote.errors import CheckpointError, ModelNotFoundError


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "clip_encoder.int8.onnx"
    save_tower(path, make_weights())
    return path


def digest(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()


def test_the_graph_is_made_once_per_precision(source: Path, tmp_path: Path) -> None:
    def open_it(precision: clip_tower.TowerPrecision) -> Path:
        return clip_tower.runnable_tower(source, precision=precision, cache_dir=tmp_path, digest=digest(source))

    int8, fp32 = open_it("int8"), open_it("fp32")
    assert int8 != fp32
    made = int8.stat().st_mtime_ns
    assert open_it("int8") == int8
    assert int8.stat().st_mtime_ns == made
    assert not list(int8.parent.glob("*.tmp"))


def test_another_file_is_refused_and_both_hashes_named(source: Path, tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=f"{digest(source)}, expected {clip_tower.SHA256}.*models get clip-b16"):
        clip_tower.runnable_tower(source, precision="int8", cache_dir=tmp_path)
    assert not (tmp_path / "clip-b16").exists()


def test_a_file_that_is_not_there_says_what_fetches_it(tmp_path: Path) -> None:
    with pytest.raises(ModelNotFoundError, match=r"viewvote models get clip-b16"):
        clip_tower.runnable_tower(tmp_path / "none.onnx", precision="int8", cache_dir=tmp_path)


def test_a_cache_that_cannot_be_written_says_how_to_move_it(source: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(ModelNotFoundError, match="VIEWVOTE_CACHE"):
        clip_tower.runnable_tower(source, precision="int8", cache_dir=tmp_path / "file", digest=digest(source))
