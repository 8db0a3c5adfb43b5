"""Tables of path and label."""

import json

import pytest

from tests.datasets.miniature import put_images
from viewvote.datasets import open_dataset
from viewvote.datasets.readers.tables import read_table
from viewvote.errors import DatasetError, DatasetNotFoundError, UsageError


def test_a_csv_of_path_and_label_is_a_dataset(tmp_path):
    put_images(tmp_path, ["b/1.jpg", "a/2.jpg"])
    (tmp_path / "zoo.csv").write_text('label,path,note\n"red fox, wild",b/1.jpg,x\ncat,a/2.jpg,y\n')
    dataset = open_dataset(tmp_path / "zoo.csv")
    assert (dataset.name, dataset.class_names) == ("zoo", ("cat", "red fox, wild"))
    assert [(item.key, item.target, item.image) for item in dataset] == [
        ("a/2.jpg", 0, tmp_path / "a/2.jpg"),
        ("b/1.jpg", 1, tmp_path / "b/1.jpg"),
    ]
    assert dataset.problems == dataset.notes == ()


def test_a_jsonl_may_point_anywhere_and_label_by_the_classes_of_a_card(tmp_path):
    put_images(tmp_path / "else", ["x.jpg"])
    far = str(tmp_path / "else" / "x.jpg")
    rows = [{"path": far, "label": "n01440764"}, {"path": "gone.jpg", "label": 2}]
    (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n\n")
    dataset = open_dataset(tmp_path / "t.jsonl", classes="imagenet")
    assert {item.key: item.target for item in dataset} == {far: 0, "gone.jpg": 2}
    assert dataset.card == "imagenet"
    assert dataset.problems[0] == "1 of the 2 images are missing: gone.jpg."


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("t.csv", "file,class\na.jpg,cat\n", "line 2 of .* has no path and label; its columns: file, class"),
        ("t.csv", "path,label\na.jpg,\n", "line 2 of .* has no path and label"),
        ("t.csv", "path,label\na.jpg,cat\n./a.jpg,dog\n", r"line 3 of .* lists ./a.jpg a second time"),
        ("t.csv", "path,label\n", "lists no images; expected columns path and label"),
        ("t.csv", "path,label\na.jpg,0\nb.jpg,1\n", "are numbers; say what they mean .*--classes"),
        ("t.csv", 'path,label\n"a.jpg,cat\nb.jpg,dog\n', "is not CSV: unexpected end of data"),
        ("t.csv", 'path,label\na.jpg,"cat\nb.jpg,dog\n', "is not CSV: unexpected end of data"),
        ("t.jsonl", '{"path": "a.jpg", "label": "cat"}\n{"path"', "line 2 of .* is not valid JSON"),
        ("t.jsonl", '["a.jpg", "cat"]\n', "line 1 of .* has no path and label"),
    ],
)
def test_a_table_that_cannot_be_read_names_the_line(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(DatasetError, match=message):
        open_dataset(tmp_path / name)


def test_labels_outside_the_classes_are_named(tmp_path):
    (tmp_path / "t.csv").write_text("path,label\na.jpg,forest\nb.jpg,Atlantis\n")
    with pytest.raises(DatasetError, match="none of the 10 classes: Atlantis"):
        open_dataset(tmp_path / "t.csv", classes="eurosat")


def test_a_table_that_is_not_there_is_said_so(tmp_path):
    with pytest.raises(DatasetNotFoundError, match=r"cannot read .*t.csv: No such file"):
        read_table(tmp_path / "t.csv")
    with pytest.raises(UsageError, match=r"no such file: .*t\.csv"):
        open_dataset(tmp_path / "t.csv")
