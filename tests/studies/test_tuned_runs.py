"""From `eval` of a tuning method to the studies of it, on a tiny CLIP with random weights."""

import json

import pytest
from typer.testing import CliRunner

pytest.importorskip("torch")
pytest.importorskip("open_clip")

from tests.encoders.torch.naive_clip import save_tiny
from tests.runs.colour_runs import colour_folder
from viewvote.cli.commands import app
from viewvote.records.detail import read_details


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tuned")
    model = f"open_clip:local-dir:{save_tiny(folder / 'clip')}"
    photos = colour_folder(folder / "photos", each=2)
    common = ["eval", "--dataset", photos, "--model", model, "--views", "8", "--device", "cpu", "--quiet"]
    for name, flags in {
        "tpt": ["--method", "tpt", "--set", "record_marginal=True", "--seeds", "0,1"],
        "cost": ["--method", "zero,tpt"],
        "teacher": ["--method", "rlcf", "--set", "tune=image", "--teacher", model],
    }.items():
        done = CliRunner().invoke(app, list(map(str, [*common, *flags, "--out", folder / name])))
        assert done.exit_code == 0, done.output
    return folder


def study(*args):
    done = CliRunner().invoke(app, ["study", *map(str, args), "--format", "json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.output)["rows"]


def test_p_bar_around_tuning_reaches_the_records_and_the_study(place):
    (row,) = study("invariance", place / "tpt")
    assert (row["n"], row["seeds"]) == (6, 2)
    same = []
    for run in sorted((place / "tpt").iterdir()):
        found = list(read_details(run / "records.jsonl", ["before", "after"]))
        assert all(abs(one.arrays[name].sum() - 1) < 1e-5 for one in found for name in ("before", "after"))
        assert any((one.arrays["before"] != one.arrays["after"]).any() for one in found)
        same += [one.arrays["before"].argmax() == one.arrays["after"].argmax() for one in found]
    assert row["same"] == pytest.approx(sum(same) / len(same))
    assert sum(one["n"] for one in study("invariance", place / "tpt", "--by", "entropy", "--bins", "3")) == 6


def test_table_3_times_tuning_methods_and_zero_in_turn(place):
    rows = study("cost", place / "cost", place / "teacher", "--images", "2")
    assert [row["method"].split()[0] for row in rows] == ["tpt", "zero", "rlcf"]
    assert [row["published"] for row in rows] == ["0.57 s, 17.66 GB", "0.06 s, 1.40 GB", "0.18 s, 9.04 GB"]
    assert all(row["n"] == 2 and row["memory_mb"] > 0 for row in rows)
