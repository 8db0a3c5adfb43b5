"""`viewvote study`: thin, and every plot is drawn."""

import json

import pytest
from typer.testing import CliRunner

from tests.runs.colour_runs import colour_folder
from tests.studies.study_runs import study_run
from viewvote.cli.commands import app
from viewvote.studies import STUDIES

DRAWN = [name for name in STUDIES if name not in ("cost", "failure")]


def study(*args):
    return CliRunner().invoke(app, ["study", *map(str, args)])


def test_a_study_is_printed_and_written(tmp_path):
    run, *_ = study_run(tmp_path / "a", images=8)
    found = study("ties", run.path, "--format", "json")
    assert found.exit_code == 0, found.output
    assert len(json.loads(found.output)["rows"]) == 7
    assert study("ties", run.path, "--format", "csv", "--output", tmp_path / "t.csv").exit_code == 0
    assert len((tmp_path / "t.csv").read_text().splitlines()) == 8


def test_mistakes_end_in_words(tmp_path):
    run, *_ = study_run(tmp_path / "a", images=8)
    for args, words in (
        (("tie", run.path), "Did you mean 'ties'?"),
        (("ties", run.path, "--format", "html"), "no format"),
        (("ties", tmp_path / "none"), "is not a run"),
    ):
        found = study(*args)
        assert found.exit_code == 2
        assert words in found.output


@pytest.mark.parametrize("name", DRAWN)
def test_every_study_draws(tmp_path, name):
    pytest.importorskip("matplotlib")
    runs = [study_run(tmp_path / str(i), images=12, seed=i, dataset=f"set{i}")[0].path for i in range(2)]
    found = study(name, *runs, "--plot", tmp_path / "plot.svg")
    assert found.exit_code == 0, found.output
    assert (tmp_path / "plot.svg").stat().st_size > 5000


def test_the_figure_of_confident_views_is_drawn_from_the_dataset(tmp_path):
    pytest.importorskip("matplotlib")
    folder = colour_folder(tmp_path / "colours", each=3)
    asked = ["eval", "--dataset", folder, "--model", "toy", "--views", "12", "--out", tmp_path / "runs", "--quiet"]
    assert CliRunner().invoke(app, list(map(str, asked))).exit_code == 0
    found = study("failure", tmp_path / "runs", "--images", "2", "--plot", tmp_path / "plot.png")
    assert found.exit_code == 0, found.output
    assert (tmp_path / "plot.png").stat().st_size > 5000


def test_cost_measures_each_method_in_turn(tmp_path):
    folder = colour_folder(tmp_path / "colours", each=3)
    for method in ("zero", "marginal"):
        asked = ["eval", "--dataset", folder, "--model", "toy", "--views", "8", "--method", method, "--quiet"]
        assert CliRunner().invoke(app, list(map(str, [*asked, "--out", tmp_path / "runs"]))).exit_code == 0
    found = study("cost", tmp_path / "runs", "--images", "2", "--format", "json")
    assert found.exit_code == 0, found.output
    rows = json.loads(found.output)["rows"]
    assert [row["method"] for row in rows] == ["marginal (views 8)", "zero (views 8)"]
    assert all(row["n"] == 2 and row["classes"] == 3 and row["forward"] > 0 for row in rows)
    assert min(row["slower"] for row in rows) == 1
