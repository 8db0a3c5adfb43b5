"""A probability fitted on a run's records, and the file used, as commands."""

import json
import shutil

import numpy as np
import pytest
from PIL import Image

from tests.cli.as_process import LABELS, viewvote
from tests.records.record_files import draw_logits, voted_record, write_records


@pytest.fixture
def run(tmp_path):
    rng = np.random.default_rng(0)
    folder = tmp_path / "a-run"
    records = [voted_record(draw_logits(rng, views=16), key=f"k{i}", target=int(i) % 9) for i in range(80)]
    write_records(folder / "records.jsonl", records)
    (folder / "spec.toml").write_text('dataset = "drawn"\nmodel = "toy"\nmethod = "zero"\nseed = 0\nviews = 16\n')
    return folder


def test_a_run_is_calibrated_and_the_file_used(run, tmp_path):
    file = tmp_path / "cal.json"
    done = viewvote("calibrate", run, "--output", file)
    assert done.returncode == 0, done.stderr
    assert "on records held back (n 80)" in done.stderr.decode()
    found = json.loads(file.read_text())
    assert (found["method"], found["model"], found["measured"]["fit"]["n"]) == ("zero", "toy", 80)
    assert found["measured"]["runs"][0]["name"] == "a-run"
    Image.new("RGB", (30, 20), (250, 0, 0)).save(tmp_path / "red.png")
    asked = ["classify", tmp_path / "red.png", *LABELS, "--model", "toy", "--method", "zero", "--format", "jsonl"]
    plain, fitted = (json.loads(viewvote(*asked, *more).stdout) for more in ([], ["--calibration", file]))
    assert plain["label"] == fitted["label"] == "red"
    assert fitted["probability"] < plain["probability"]  # targets of the run were drawn: most answers are wrong
    again = viewvote("calibrate", run, "--output", file)
    assert again.returncode == 2
    assert "Replace it with --overwrite" in again.stderr.decode()


def test_without_an_output_the_numbers_are_printed(run):
    assert json.loads(viewvote("calibrate", run).stdout)["format"] == "viewvote-calibration-1"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda run: run / "nothing", "is not a run"),
        (lambda run: ((run / "records.jsonl").write_text("") and run) or run, "no usable record"),
    ],
)
def test_mistakes_are_told(run, change, message):
    done = viewvote("calibrate", change(run))
    assert done.returncode == 2
    assert message in done.stderr.decode()


def test_a_folder_of_runs_stands_for_all_of_them(run, tmp_path):
    runs = tmp_path / "runs"
    shutil.copytree(run, runs / "a-run")
    assert viewvote("calibrate", runs).stdout == viewvote("calibrate", run).stdout
    shutil.copytree(run, runs / "b-run")
    both = json.loads(viewvote("calibrate", runs).stdout)
    assert [one["name"] for one in both["measured"]["runs"]] == ["a-run", "b-run"]
    assert viewvote("calibrate", runs, runs / "a-run").stdout == viewvote("calibrate", runs).stdout  # each once
    refused = viewvote("calibrate", tmp_path / "nothing")
    assert (refused.returncode, b"is not a run" in refused.stderr) == (2, True)


def test_runs_of_two_methods_are_not_mixed(run, tmp_path):
    other = tmp_path / "other"
    write_records(other / "records.jsonl", [])
    (other / "spec.toml").write_text('dataset = "drawn"\nmodel = "toy"\nmethod = "anchored"\nseed = 0\nviews = 16\n')
    done = viewvote("calibrate", run, other)
    assert done.returncode == 2
    assert "several methods (anchored, zero)" in done.stderr.decode()
    assert f"anchored: {other}; zero: {run}" in done.stderr.decode()
    assert viewvote("calibrate", tmp_path).stderr == done.stderr  # they are all that this folder has
