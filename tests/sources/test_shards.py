"""WebDataset shards as sources."""

import gzip
import tarfile

import pytest

from benchmarks.shelves import LABELS, label, labels_of, picture, write_shard, write_tar
from viewvote import Classifier
from viewvote.sources import open_source, shards
from viewvote.sources.shards import TarPiece


@pytest.fixture
def clf():
    return Classifier("toy", labels=LABELS, n_views=4)


def test_braces_name_shards_whose_images_are_answered_as_files_are(tmp_path, clf):
    for shard in range(3):
        write_shard(tmp_path / f"{shard:03}.tar", range(4 * shard, 4 * shard + 4))
    found = labels_of(clf, open_source(f"{tmp_path}/{{000..002}}.tar"))
    assert found == {f"{tmp_path}/{i // 4:03}.tar#{i:04}.png": label(i) for i in range(12)}
    (item, *_) = open_source(tmp_path / "000.tar")
    (tmp_path / "loose.png").write_bytes(picture(0))
    (one, other) = clf.predict_many([item, str(tmp_path / "loose.png")])
    assert one.scores.tolist() == other.scores.tolist()
    assert one.probability == other.probability


def test_kept_columns_lie_beside_the_image_or_in_its_json(tmp_path):
    write_shard(tmp_path / "s.tar", range(2))
    items = list(open_source(tmp_path / "s.tar", keep_columns=["txt", "id", "nothing"]))
    assert [dict(item.columns) for item in items] == [
        {"txt": "red", "id": 0, "nothing": None},
        {"txt": "green", "id": 1, "nothing": None},
    ]


@pytest.mark.parametrize("keep", [(), ("txt",)])
def test_reading_may_start_at_any_image(tmp_path, keep):
    write_shard(tmp_path / "s.tar", range(5))
    piece = TarPiece(str(tmp_path / "s.tar"), keep)
    whole = list(piece.items())
    assert len(whole) == 5
    for skip in range(6):
        assert list(piece.items(skip=skip)) == whole[skip:]


def test_a_cut_off_shard_gives_what_it_has_and_one_error(tmp_path, clf):
    path = write_shard(tmp_path / "s.tar", range(6))
    with tarfile.open(path) as archive:
        fourth = archive.getmember("0003.png").offset_data
    path.write_bytes(path.read_bytes()[: fourth + 10])
    found = labels_of(clf, open_source(path))
    assert [found[f"{path}#{i:04}.png"] for i in range(3)] == ["red", "green", "blue"]
    assert "is damaged at byte" in found[str(path)]
    assert len(found) == 4


def test_compressed_shards_are_read_and_damaged_ones_told(tmp_path, clf):
    plain = write_shard(tmp_path / "s.tar", range(3))
    packed = tmp_path / "s.tar.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert list(labels_of(clf, open_source(packed)).values()) == LABELS
    packed.write_bytes(packed.read_bytes()[:-200])
    assert f"cannot read {packed}" in list(labels_of(clf, open_source(packed)).values())[-1]


def test_names_that_climb_are_only_names(tmp_path, clf):
    write_tar(tmp_path / "s.tar", {"../../escaped.png": picture(0), "/etc/absolute.png": picture(1)})
    assert list(labels_of(clf, open_source(tmp_path / "s.tar")).values()) == ["red", "green"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["s.tar"]
    assert not (tmp_path.parent / "escaped.png").exists()


def test_a_link_in_a_shard_is_an_error_and_the_rest_is_answered(tmp_path, clf):
    link = tarfile.TarInfo("a.png")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/hostname"
    write_tar(tmp_path / "s.tar", {"a.png": link, "b.png": picture(1)})
    first, second = labels_of(clf, open_source(tmp_path / "s.tar")).values()
    assert "is a link" in first
    assert second == "green"


def test_an_image_over_the_limit_is_not_read_whole(tmp_path):
    write_tar(tmp_path / "s.tar", {"a.png": b"x" * 5000})
    (item,) = TarPiece(str(tmp_path / "s.tar"), max_bytes=100).items()
    assert len(item.image) == 101


def test_a_json_beside_an_image_may_be_nested_without_end(tmp_path):
    write_tar(tmp_path / "s.tar", {"a.png": picture(0), "a.json": b"[" * 200_000, "b.png": picture(1)})
    items = list(open_source(tmp_path / "s.tar", keep_columns=["label"]))
    assert [(item.columns["label"], item.error) for item in items] == [(None, None), (None, None)]


def test_a_sample_of_too_many_images_is_an_error_instead_of_filling_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(shards, "SAMPLE_BYTES", 3000)
    write_tar(tmp_path / "s.tar", {f"a.{i}.png": bytes(1000) for i in range(5)})
    (lost,) = open_source(tmp_path / "s.tar", keep_columns=["txt"])
    assert "a sample has more than 3,000 bytes" in str(lost.error)
    assert len(list(open_source(tmp_path / "s.tar"))) == 5  # without columns none of them waits
