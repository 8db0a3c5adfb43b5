"""Image columns of Parquet and Arrow files."""

import os
import struct

import pytest

from benchmarks.shelves import LABELS, label, labels_of, picture
from viewvote import Classifier
from viewvote.errors import DatasetError, UsageError, ViewvoteError
from viewvote.sources import open_source
from viewvote.sources.columnar import RowsPiece

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


@pytest.fixture
def clf():
    return Classifier("toy", labels=LABELS, n_views=4)


def write_rows(path, column, *, name="image", group=4, **others):
    pq.write_table(pa.table({name: column, **others}), path, row_group_size=group)
    return path


@pytest.mark.parametrize("form", ["bytes", "path", "struct", "struct of a path"])
def test_every_form_of_an_image_column(tmp_path, clf, form):
    (tmp_path / "pictures").mkdir()
    for i in range(10):
        (tmp_path / "pictures" / f"{i}.png").write_bytes(picture(i))
    cells = {
        "bytes": [picture(i) for i in range(10)],
        "path": [f"pictures/{i}.png" for i in range(10)],
        "struct": [{"bytes": picture(i), "path": f"{i}.png"} for i in range(10)],
        "struct of a path": [{"bytes": None, "path": f"pictures/{i}.png"} for i in range(10)],
    }[form]
    path = write_rows(tmp_path / "t.parquet", cells)
    source = open_source(path)
    assert labels_of(clf, source) == {f"{path}#{i}": label(i) for i in range(10)}
    assert len(list(source.pieces())) == 3  # row groups


def test_kept_columns_keep_their_types(tmp_path):
    times = pa.array([1, 2], pa.timestamp("ms"))
    path = write_rows(tmp_path / "t.parquet", [picture(0), picture(1)], id=[7, 8], at=times)
    source = open_source(path, keep_columns=["id", "at"])
    assert source.column_types() == {"id": pa.int64(), "at": pa.timestamp("ms")}
    assert [item.columns["id"] for item in source] == [7, 8]


def test_the_column_is_found_or_must_be_named(tmp_path, clf):
    only = write_rows(tmp_path / "only.parquet", [picture(2)], name="jpg", id=[1])
    assert list(labels_of(clf, open_source(only)).values()) == ["blue"]
    two = write_rows(tmp_path / "two.parquet", [picture(0)], name="left", right=[picture(1)])
    assert list(labels_of(clf, open_source(two, image_column="right")).values()) == ["green"]
    with pytest.raises(UsageError, match=r"which column of .*two\.parquet holds the images\? .*: left, right"):
        open_source(two)
    with pytest.raises(UsageError, match=r"has no column 'url'; it has jpg, id"):
        open_source(only, keep_columns=["url"])


def test_arrow_files_of_datasets_are_read_where_they_lie(tmp_path, clf):
    datasets = pytest.importorskip("datasets")
    rows = {"image": [{"bytes": picture(i), "path": None} for i in range(40)], "id": list(range(40))}
    datasets.Dataset.from_dict(rows).cast_column("image", datasets.Image()).save_to_disk(str(tmp_path / "saved"))
    found = labels_of(clf, open_source(tmp_path / "saved"))
    assert list(found.values()) == [label(i) for i in range(40)]


def test_both_forms_of_arrow_files(tmp_path, clf):
    table = pa.table({"image": [picture(i) for i in range(5)]})
    for write, name in ((pa.ipc.new_file, "file"), (pa.ipc.new_stream, "stream")):
        with write(str(tmp_path / f"{name}.arrow"), table.schema) as sink:
            sink.write_table(table)
    source = open_source(tmp_path / "{file,stream}.arrow")
    assert list(labels_of(clf, source).values()) == [label(i) for i in range(5)] * 2


def test_reading_may_start_at_any_row(tmp_path):
    path = write_rows(tmp_path / "t.parquet", [picture(i) for i in range(40)], group=40)
    piece = RowsPiece(str(path), "image", (), 0, 0, 40)
    whole = list(piece.items())
    for skip in (0, 1, 15, 16, 17, 39, 40):
        assert list(piece.items(skip=skip)) == whole[skip:]


def test_a_damaged_file_among_good_ones_is_one_error(tmp_path, clf):
    for i in range(3):
        write_rows(tmp_path / f"{i}.parquet", [picture(i)])
    (tmp_path / "1.parquet").write_bytes(b"PAR1 and no more")
    found = labels_of(clf, open_source(f"{tmp_path}/*.parquet"))
    assert [found[f"{tmp_path}/{i}.parquet#0"] for i in (0, 2)] == ["red", "blue"]
    assert f"cannot read {tmp_path}/1.parquet" in found[f"{tmp_path}/1.parquet"]


def test_damaged_pages_are_an_error_in_place_of_the_rest(tmp_path, clf):
    path = write_rows(tmp_path / "t.parquet", [picture(i) for i in range(8)], group=4)
    second = pq.ParquetFile(path).metadata.row_group(1).column(0)
    data = bytearray(path.read_bytes())
    start = second.dictionary_page_offset or second.data_page_offset
    data[start : start + second.total_compressed_size] = b"\xff" * second.total_compressed_size
    path.write_bytes(data)
    found = labels_of(clf, open_source(path))
    assert [found[f"{path}#{i}"] for i in range(4)] == [label(i) for i in range(4)]
    assert f"cannot read {path}" in found[f"{path}#4"]


def test_empty_cells_are_errors(tmp_path, clf):
    path = write_rows(tmp_path / "t.parquet", pa.array([None, picture(0), b""], pa.binary()))
    first, second, third = labels_of(clf, open_source(path)).values()
    assert "holds no image" in first
    assert second == "red"
    assert "cannot decode" in third


def arrow_file(path, name="image"):
    """A file of two texts, whose offsets 0, 6, 12 lie somewhere in it as they are."""
    table = pa.table({name: ["a1.png", "b2.png"]})
    with pa.OSFile(str(path), "wb") as out, pa.ipc.new_file(out, table.schema) as writer:
        writer.write_table(table)
    return path.read_bytes()


@pytest.mark.parametrize("offsets", [(0, 6, 2**31 - 1), (0, 2**30, 6), (0, -6, 12)])
def test_offsets_that_point_outside_of_a_column_are_an_error(tmp_path, offsets):
    """Arrow itself would read whatever lies there in memory."""
    data = arrow_file(tmp_path / "t.arrow")
    assert data.count(struct.pack("<iii", 0, 6, 12)) == 1
    (tmp_path / "t.arrow").write_bytes(data.replace(struct.pack("<iii", 0, 6, 12), struct.pack("<iii", *offsets)))
    (lost,) = open_source(tmp_path / "t.arrow", image_column="image")
    assert "cannot read" in str(lost.error)


def test_texts_and_names_that_are_no_utf8_are_errors(tmp_path):
    data = arrow_file(tmp_path / "t.arrow")
    (tmp_path / "t.arrow").write_bytes(data.replace(b"a1.png", b"a\xff.png"))
    (lost,) = open_source(tmp_path / "t.arrow", image_column="image")
    assert "cannot read" in str(lost.error)
    (tmp_path / "t.arrow").write_bytes(data.replace(b"image", b"im\xffge"))
    with pytest.raises(DatasetError, match="cannot read"):
        open_source(tmp_path / "t.arrow")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
@pytest.mark.parametrize("name", ["t.arrow", "t.parquet", "t.csv", "t.jsonl", "t.tar"])
def test_a_pipe_is_no_source_and_nothing_waits_for_it(tmp_path, name):
    os.mkfifo(tmp_path / name)
    try:
        found = [str(item.error) for item in open_source(tmp_path / name)]
    except ViewvoteError as error:
        found = [str(error)]
    assert len(found) == 1
    assert "not a regular file" in found[0]
