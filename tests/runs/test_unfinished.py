"""Runs that stopped short: what their folders say, and what is done again."""

import json
import os
from pathlib import Path

import pytest

from tests.runs.colour_runs import KilledError, colour_folder, lines_of, spoil
from viewvote.errors import UnknownNameError
from viewvote.runs import RunSpec, run


def killed(*_):
    raise KilledError


@pytest.fixture
def photos(tmp_path):
    return colour_folder(tmp_path / "colours", each=2)


def spec_of(place, **changes):
    return RunSpec(**{"dataset": str(place), "model": "toy", "views": 2} | changes)


def test_a_run_whose_model_cannot_be_loaded_has_no_records(photos, tmp_path):
    with pytest.raises(UnknownNameError):
        run(spec_of(photos, model="nosuch"), out=tmp_path / "out")
    assert not list((tmp_path / "out").rglob("records.jsonl"))


def test_a_run_that_lost_records_loses_its_summary_until_it_is_complete_again(photos, tmp_path):
    folder = Path(run(spec_of(photos), out=tmp_path / "out").path)
    lines = (folder / "records.jsonl").read_text().splitlines(keepends=True)
    (folder / "records.jsonl").write_text("".join(lines[:3]))
    with pytest.raises(KilledError):
        run(spec_of(photos), out=tmp_path / "out", watch=killed)
    assert not (folder / "summary.json").exists()
    assert run(spec_of(photos), out=tmp_path / "out").n == 6
    assert json.loads((folder / "summary.json").read_text())["n"] == 6


def test_the_dataset_s_own_name_is_written_before_the_first_record(photos, tmp_path):
    (tmp_path / "pictures.csv").write_text("path,label\ncolours/blue/0000.png,blue\ncolours/red/0000.png,red\n")
    with pytest.raises(KilledError):
        run(spec_of(tmp_path / "pictures.csv"), out=tmp_path / "out", watch=killed)
    (told,) = (tmp_path / "out").glob("*/environment.json")
    assert json.loads(told.read_text())["dataset_name"] == "pictures"


@pytest.mark.parametrize(("repaired", "again"), [(0, 1), (1, 2)])
def test_what_failed_again_before_a_retry_was_killed_is_tried_by_the_next(
    photos, tmp_path, monkeypatch, repaired, again
):
    whole = lines_of(run(spec_of(photos), out=tmp_path / "whole"))
    bad = [photos / "blue" / "0001.png", photos / "red" / "0000.png"]
    held = [spoil(path) for path in bad]
    folder = Path(run(spec_of(photos), out=tmp_path / "out").path)
    bad[repaired].write_bytes(held[repaired])
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", killed)
        with pytest.raises(KilledError):
            run(spec_of(photos), out=tmp_path / "out", retry_errors=True)
    bad[1 - repaired].write_bytes(held[1 - repaired])
    assert run(spec_of(photos), out=tmp_path / "out", retry_errors=True).errors == 0
    assert lines_of(folder) == whole
    assert f" {again} samples with errors were retried" in (folder / "run.log").read_text()
