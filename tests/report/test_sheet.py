"""The sheet of one run, and its picture."""

import json

import numpy as np
import pytest
from PIL import Image

from tests.report.run_folders import answers, voted, write_run
from viewvote.errors import UsageError
from viewvote.metrics.calibration import reliability
from viewvote.pictures.plots import plot_sheet
from viewvote.records.record import failed_record
from viewvote.report.sheet import fill_sheet
from viewvote.runs.read import load_run


@pytest.fixture
def run(tmp_path):
    return load_run(write_run(tmp_path / "run", [*voted(40), failed_record(OSError("gone"), key="gone", target=0)]))


def test_the_sheet_measures_answers_and_views(run):
    records = voted(40)
    sheet = fill_sheet(run, bins=10)
    assert sheet.rates["top-1"].value == np.mean([record.correct for record in records])
    assert sheet.rates["zero-shot"].value == np.mean([record.source_top[0] == record.target for record in records])
    assert set(sheet.calibration) == {"confidence", "probability", "source views", "kept views"}
    expected = reliability([r.confidence for r in records], [r.correct for r in records], bins=10)
    assert sheet.calibration["confidence"].ece == expected.ece
    assert sheet.calibration["kept views"].count.sum() == 40 * 3  # 30% of 12
    assert sheet.ties == sum(record.tie_break is not None for record in records)
    assert sheet.mean_views == 12


def test_the_sheet_is_told_in_words_and_as_json(run):
    sheet = fill_sheet(run)
    assert "n = 40, 1 unusable" in str(sheet)
    assert "as the paper prints it" in str(sheet)
    told = json.loads(json.dumps(sheet.to_dict(), allow_nan=False))
    assert told["top-1"]["errors"] == 1
    assert sum(found["n"] for found in told["reliability"]["confidence"]) == 40
    assert told["seconds"]["mean"]["total"] == 0.1


def test_a_run_without_views_or_answers_has_a_sheet_too(tmp_path):
    sheet = fill_sheet(load_run(write_run(tmp_path / "a", answers(3, 1))))
    assert set(sheet.calibration) == {"confidence", "probability"}
    assert "zero-shot" not in sheet.rates
    nothing = fill_sheet(load_run(write_run(tmp_path / "b", [failed_record(OSError("x"), key="x", target=0)])))
    assert nothing.rates["top-1"].n == 0
    assert "n = 0, 1 unusable" in str(nothing)


def test_the_picture_is_drawn_in_the_format_of_its_name(run, tmp_path):
    pytest.importorskip("matplotlib")
    sheet = fill_sheet(run)
    plot_sheet(sheet, tmp_path / "sheet.png")
    with Image.open(tmp_path / "sheet.png") as picture:
        assert picture.width > 5 * 300  # four diagrams and the curve
        assert len(picture.convert("RGB").getcolors(1 << 24)) > 50
    plot_sheet(sheet, tmp_path / "sheet.svg")
    assert "<svg" in (tmp_path / "sheet.svg").read_text()
    with pytest.raises(UsageError, match="cannot write"):
        plot_sheet(sheet, tmp_path / "nowhere" / "sheet.png")


def test_other_endings_are_refused(run, tmp_path):
    with pytest.raises(UsageError, match=r"\.png, \.svg"):
        plot_sheet(fill_sheet(run), tmp_path / "sheet.docx")


def test_a_run_without_a_record_has_no_sheet(tmp_path):
    with pytest.raises(UsageError, match="has no record yet"):
        fill_sheet(load_run(write_run(tmp_path / "a", [], complete=False)))
