"""CSV and JSONL tables of paths and addresses."""

import json

import pytest

from benchmarks.shelves import LABELS, labels_of, picture
from viewvote import Classifier
from viewvote.errors import UsageError
from viewvote.sources import open_source
from viewvote.sources.tables import LINE_BYTES, resolve


@pytest.fixture
def clf():
    return Classifier("toy", labels=LABELS, n_views=4)


@pytest.fixture
def folder(tmp_path):
    for i in range(3):
        (tmp_path / f"{i}.png").write_bytes(picture(i))
    return tmp_path


def test_paths_start_at_the_table_and_columns_travel(folder, clf):
    (folder / "t.csv").write_text("\ufeffphoto,id\n0.png,a\n2.png,b\n", encoding="utf-8")
    source = open_source(folder / "t.csv", path_column="photo", keep_columns=["id"])
    assert labels_of(clf, source) == {f"{folder}/0.png": "red", f"{folder}/2.png": "blue"}
    assert [item.columns["id"] for item in source] == ["a", "b"]


def test_bad_lines_are_errors_and_the_others_are_answered(folder, clf):
    lines = [
        '{"path": "0.png"}',
        "no json",
        "[1]",
        '{"path": 3}',
        '{"path": "gone.png"}',
        '{"path": "a\\u0000b"}',
        "",
        "1",
    ]
    lines += [json.dumps({"path": str(folder / "1.png")})]
    (folder / "t.jsonl").write_text("\n".join(lines))
    found = labels_of(clf, open_source(folder / "t.jsonl"))
    table = f"{folder}/t.jsonl"
    assert found[f"{folder}/0.png"] == "red"
    assert found[f"{folder}/1.png"] == "green"
    assert "line 2 of" in found[f"{table}#2"]
    assert "is no JSON object" in found[f"{table}#3"]
    assert "line 4 of" in found[f"{table}#4"]
    assert "No such file" in found[f"{folder}/gone.png"]
    assert "is no file's name" in found[f"{folder}/a\0b"]
    assert len(found) == 8


def test_missing_columns_are_a_mistake_of_the_command(folder):
    (folder / "t.csv").write_text("name,id\n0.png,a\n")
    with pytest.raises(UsageError, match=r"none of the columns path, url, image, file_name.*: name, id"):
        open_source(folder / "t.csv")
    with pytest.raises(UsageError, match="has no column 'place'; it has name, id"):
        open_source(folder / "t.csv", path_column="name", keep_columns=["place"])
    (folder / "empty.csv").write_text("path\n")
    with pytest.raises(UsageError, match="lists nothing"):
        open_source(folder / "empty.csv")


def test_a_line_without_an_end_stops_the_table_not_the_run(folder, clf):
    (folder / "t.jsonl").write_text('{"path": "0.png"}\n' + "x" * (LINE_BYTES + 10) + "\n")
    first, last = labels_of(clf, open_source(folder / "t.jsonl")).values()
    assert first == "red"
    assert "a line of more than 1,000,000 bytes. What follows is not read." in last


@pytest.mark.parametrize(
    ("value", "table", "place"),
    [
        ("a.jpg", "t.csv", "a.jpg"),
        ("a.jpg", "/data/t.csv", "/data/a.jpg"),
        ("/x/a.jpg", "/data/t.csv", "/x/a.jpg"),
        ("s3://b/a.jpg", "/data/t.csv", "s3://b/a.jpg"),
        ("a.jpg", "s3://b/d/t.csv", "s3://b/d/a.jpg"),
        ("https://h/a.jpg", "s3://b/d/t.csv", "https://h/a.jpg"),
        ("/etc/passwd", "s3://b/d/t.csv", None),
        ("file:///etc/passwd", "s3://b/d/t.csv", None),
    ],
)
def test_where_a_value_points(value, table, place):
    assert resolve(value, table=table) == place
