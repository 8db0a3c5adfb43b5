"""A run class by class, with the names of its dataset where that is here."""

import csv
import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.datasets.miniature import colour_folders
from tests.records.record_files import plain_record
from tests.report.run_folders import write_run
from viewvote.datasets import open_dataset
from viewvote.errors import DatasetError, UsageError
from viewvote.pictures.confusion import _chosen, plot_confusion
from viewvote.pictures.contact_sheet import CELL, MARGIN
from viewvote.pictures.drawing import SCALE
from viewvote.pictures.mistakes import mistakes_sheet
from viewvote.report.classes import ClassSheet, dataset_of_run, fill_classes
from viewvote.runs.read import load_run

COLOURS = {"blue": (0, 0, 250), "green": (0, 250, 0), "red": (250, 0, 0)}


@pytest.fixture
def run(tmp_path):
    """Two images a class; one red is called blue with certainty, one green is called red with less."""
    folder = colour_folders(tmp_path / "colours", per_class=2, colours=COLOURS)
    dataset = open_dataset(folder)
    answers = dict(zip(dataset.keys, dataset.targets, strict=True))
    reds, greens = ([key for key in dataset.keys if name in key] for name in ("red", "green"))
    wrong = {reds[0]: (0, 0.99), greens[0]: (2, 0.6)}
    records = [
        plain_record(
            key, target=target, index=wrong.get(key, (target, 0.9))[0], probability=wrong.get(key, (0, 0.9))[1]
        )
        for key, target in answers.items()
    ]
    spec = {"dataset": str(folder), "fingerprint": dataset.fingerprint}
    return load_run(write_run(tmp_path / "run", records, **spec))


def test_the_worst_classes_and_the_confused_pairs_are_named(run):
    sheet = fill_classes(run)
    assert sheet.names == ("blue", "green", "red")
    lines = sheet.text().splitlines()
    assert lines[0] == "classes"
    assert [line.split()[0:2] for line in lines[1:4]] == [["green", "50.00%"], ["red", "50.00%"], ["blue", "100.00%"]]
    assert lines[5:] == ["most confused", "  green taken for red: 1 (50%)", "  red taken for blue: 1 (50%)"]
    assert [row["class"] for row in sheet.to_dict()["classes"]] == ["blue", "green", "red"]
    assert sheet.to_dict()["confused"][1] == {"class": "red", "called": "blue", "n": 1, "share": 0.5}


def test_the_table_has_a_row_and_a_column_per_class(run):
    rows = list(csv.reader(io.StringIO(fill_classes(run).csv())))
    assert rows[0] == ["image shows", "blue", "green", "red"]
    assert rows[1:] == [["blue", "2", "0", "0"], ["green", "0", "1", "1"], ["red", "1", "0", "1"]]


def test_where_the_dataset_is_gone_classes_have_numbers(run):
    for file in Path(run.spec.dataset).rglob("*.jpg"):
        file.unlink()
    assert fill_classes(run).names == ("class 0", "class 1", "class 2")


def test_another_dataset_at_the_place_is_not_taken_for_it(run):
    next(Path(run.spec.dataset).rglob("*.jpg")).unlink()
    with pytest.raises(DatasetError, match="fingerprint is another"):
        dataset_of_run(run)


def test_mistakes_are_shown_the_surest_first(run):
    sheet = np.asarray(mistakes_sheet(run, dataset_of_run(run))).astype(int)
    y, x = MARGIN + 30 * SCALE + CELL // 2, MARGIN + CELL // 2
    assert np.abs(sheet[y, x] - COLOURS["red"]).max() < 12
    assert np.abs(sheet[y, x + CELL + 20] - COLOURS["green"]).max() < 12


def test_a_run_without_mistakes_has_none_to_show(tmp_path):
    run = load_run(write_run(tmp_path / "run", [plain_record("a", target=0, index=0)]))
    with pytest.raises(UsageError, match="no mistakes"):
        mistakes_sheet(run, open_dataset(colour_folders(tmp_path / "c", per_class=1, colours=COLOURS)))


def test_of_many_classes_the_picture_has_those_with_the_most_mistakes():
    matrix = np.eye(100, dtype=np.int64) * 5
    matrix[70, 3] = 4
    matrix[2, 99] = 1
    chosen = _chosen(ClassSheet(tuple(map(str, range(100))), {}, matrix, []))
    assert {70, 3, 2, 99} <= set(chosen)
    assert (len(chosen), chosen) == (30, sorted(chosen))


def test_the_picture_of_the_matrix_is_written(run, tmp_path):
    pytest.importorskip("matplotlib")
    plot_confusion(fill_classes(run), tmp_path / "c.png", title="a run")
    with Image.open(tmp_path / "c.png") as picture:
        assert picture.width > 300
