"""Calibrating from records and using what it wrote, as commands."""

import json
import shutil

import numpy as np
import pytest
from PIL import Image

from tests.cli.as_process import LABELS, viewvote
from tests.records.record_files import draw_logits, voted_record, write_records
from viewvote.cli.values import read_views
from viewvote.errors import UsageError
from viewvote.stopping import Adaptive
from viewvote.stopping.options import asked_views


@pytest.fixture
def run(tmp_path):
    rng = np.random.default_rng(0)
    folder = tmp_path / "a-run"
    folder.mkdir()
    records = [voted_record(draw_logits(rng, views=16, hard=4.0), key=f"k{i}") for i in range(60)]
    write_records(folder / "records.jsonl", records)
    (folder / "spec.toml").write_text('dataset = "drawn"\nmodel = "toy"\nmethod = "zero"\nseed = 0\nviews = 16\n')
    return folder


@pytest.fixture
def red(tmp_path):
    Image.new("RGB", (30, 20), (250, 0, 0)).save(tmp_path / "red.png")
    return tmp_path / "red.png"


def test_a_run_is_calibrated_and_the_file_used(run, red, tmp_path):
    done = viewvote(
        "calibrate-stop", run, "--disagreement", "0.1", "--disagreement", "0.2", "--output", tmp_path / "s.json"
    )
    assert done.returncode == 0, done.stderr
    assert "disagreement 0.1: " in done.stderr.decode()
    assert "records held back" in done.stderr.decode()
    found = json.loads((tmp_path / "s.json").read_text())["calibrations"]
    assert [one["disagreement"] for one in found] == [0.1, 0.2]
    described = {"name": "a-run", "dataset": "drawn", "model": "toy", "method": "zero", "seed": 0}
    assert found[0]["provenance"] == {"runs": [described], "records": 60}
    views = ["--method", "zero", "--views", "16", "--stop", tmp_path / "s.json", "--disagreement", "0.1"]
    row = json.loads(viewvote("classify", red, *LABELS, "--model", "toy", *views, "--format", "jsonl").stdout)
    assert row["stop"] in ("confident", "all views")


def test_without_an_output_the_thresholds_are_printed(run):
    printed = json.loads(viewvote("calibrate-stop", run / "records.jsonl", "--disagreement", "0.2").stdout)
    assert printed["calibrations"][0]["budget"] == 16
    assert printed["calibrations"][0]["provenance"]["runs"] == [{"name": "records.jsonl"}]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["missing"], "missing does not exist. Give a folder that `viewvote eval` made"),
        (["EMPTY"], "records.jsonl does not exist. Give a folder"),
        (["SPOILT"], "spec.toml is not TOML: "),
        (["RUN", "--keep", "2"], "keep must be"),
        (["RUN", "--budget", "64"], "needs all 64 views"),
        (["RUN", "--disagreement", "0"], "disagreement is a rate above 0 and below 1, 'noise' or 'strict'; got 0.0"),
        (["RUN", "--disagreement", "1.5"], "disagreement is a rate above 0 and below 1, 'noise' or 'strict'; got 1.5"),
        (
            ["RUN", "--disagreement", "much"],
            "disagreement is a rate such as 0.01, or exact, strict or noise; got 'much'",
        ),
        (["RUN", "--disagreement", "exact"], "exact needs no thresholds"),
        (["RUN", "--disagreement", "noise"], "two runs of the same images with other seeds"),
        (["RUN", "--method", "tpt"], "no vote 'tpt'"),
        (["RUN", "--method", "anchored"], "does not hold how alike its labels are"),
        (["RUN/records.jsonl", "--method", "anchored"], "weight is known from a run's folder"),
        (["RUN"], "cannot show a disagreement below 0.01"),
    ],
)
def test_mistakes_are_told(run, options, message, tmp_path):
    if "SPOILT" in options:
        (run / "spec.toml").write_text("= no toml")
    (tmp_path / "empty").mkdir()
    places = {"RUN": run, "SPOILT": run, "EMPTY": tmp_path / "empty"}
    done = viewvote("calibrate-stop", *(places.get(option, option) for option in options))
    assert done.returncode == 2
    assert message in done.stderr.decode()


def test_a_folder_of_runs_stands_for_all_of_them(run, tmp_path):
    alone = viewvote("calibrate-stop", run, "--disagreement", "0.2")
    assert viewvote("calibrate-stop", tmp_path, "--disagreement", "0.2").stdout == alone.stdout
    other_seed(run, tmp_path / "other")
    both = json.loads(viewvote("calibrate-stop", tmp_path, "--disagreement", "0.2").stdout)
    assert [one["seed"] for one in both["calibrations"][0]["provenance"]["runs"]] == [0, 1]
    assert both["calibrations"][0]["provenance"]["records"] == 120


def test_runs_that_looked_at_the_same_views_do_not_go_together(run, tmp_path):
    shutil.copytree(run, tmp_path / "again")
    done = viewvote("calibrate-stop", tmp_path, "--disagreement", "0.2")
    assert done.returncode == 2
    assert f"{run} and {tmp_path / 'again'} looked at the same views (drawn, toy, seed 0)" in done.stderr.decode()


def test_runs_of_two_methods_need_a_method_to_replay(run, tmp_path):
    other_seed(run, tmp_path / "other", method="zero-shot")
    done = viewvote("calibrate-stop", tmp_path, "--disagreement", "0.2")
    assert done.returncode == 2
    assert "several methods (zero, zero-shot); give runs of one, or --method." in done.stderr.decode()
    assert viewvote("calibrate-stop", tmp_path, "--disagreement", "0.2", "--method", "zero").returncode == 0


def other_seed(run, copy, *, method="zero"):
    """A copy of the run that calls itself one of seed 1, and of the method."""
    shutil.copytree(run, copy)
    spec = (run / "spec.toml").read_text().replace("seed = 0", "seed = 1")
    (copy / "spec.toml").write_text(spec.replace('"zero"', f'"{method}"'))


def test_seeds_that_never_differ_show_no_noise(run, tmp_path):
    other_seed(run, tmp_path / "again")
    done = viewvote("calibrate-stop", run, tmp_path / "again", "--disagreement", "noise")
    assert done.returncode == 2
    assert "two seeds gave all 60 pairs of answers alike" in done.stderr.decode()


def test_adaptive_views_on_the_command_line(red):
    done = viewvote("classify", red, *LABELS, "--model", "toy", "--views", "adaptive", "--format", "jsonl")
    row = json.loads(done.stdout)
    assert (row["views_used"], row["stop"]) == (1, "confident")
    done = viewvote("classify", red, *LABELS, "--model", "toy", "--views", "adaptive", "--method", "zero-shot")
    assert done.returncode == 2
    assert "does not vote" in done.stderr.decode()


@pytest.mark.parametrize(
    ("views", "stop", "disagreement", "expected"),
    [
        ("4", None, None, (4, None)),
        ("32", "exact", None, (32, "exact")),
        ("adaptive", None, None, (Adaptive(), None)),
        ("auto", None, None, ("auto", None)),
        ("auto", None, "exact", (64, "exact")),
        ("adaptive", None, "strict", (Adaptive(disagreement="strict"), None)),
        ("adaptive", None, 0.05, (Adaptive(disagreement=0.05), None)),
        ("adaptive", "exact", None, (64, "exact")),
        ("adaptive", "s.json", None, (Adaptive(calibration="s.json"), None)),
        ("16", "s.json", 0.1, (Adaptive(budget=16, disagreement=0.1, calibration="s.json"), None)),
    ],
)
def test_what_views_stop_and_disagreement_mean_together(views, stop, disagreement, expected):
    assert asked_views(read_views(views), stop=stop, disagreement=disagreement) == expected


@pytest.mark.parametrize(
    ("views", "stop", "disagreement", "message"),
    [
        ("many", None, None, "views must be a number, adaptive or auto; got 'many'"),
        ("8", None, 0.1, "belongs to adaptive views"),
        ("8", "exact", 0.1, "never disagrees"),
        ("adaptive", "exact", 0.1, "leave out `disagreement`"),
        ("adaptive", "s.json", "exact", "reads no thresholds"),
    ],
)
def test_wrong_combinations_are_usage_errors(views, stop, disagreement, message):
    with pytest.raises(UsageError, match=message):
        asked_views(read_views(views), stop=stop, disagreement=disagreement)
