"""`viewvote report | metrics | rescore` from the shell's side."""

import csv
import io
import json

import pytest
from typer.testing import CliRunner

from tests.report.run_folders import answers, voted, write_run
from tests.runs.colour_runs import colour_folder
from viewvote.cli import report as command
from viewvote.cli.commands import app
from viewvote.methods.anchored import weight_for
from viewvote.metrics.rescore import Setting, rescore
from viewvote.records.record import failed_record
from viewvote.report.formats.render import FORMATS
from viewvote.report.layouts import SHIPPED
from viewvote.vote import TIE_RULES


def viewvote(*arguments):
    return CliRunner().invoke(app, [str(one) for one in arguments])


@pytest.fixture
def run(tmp_path):
    return write_run(tmp_path / "runs" / "a", [*voted(30), failed_record(OSError("gone"), key="gone", target=0)])


def test_the_shell_offers_the_layouts_and_formats_there_are():
    assert sorted(command.LAYOUTS) == list(SHIPPED)
    assert list(command.FORMATS) == list(FORMATS)


def test_report_prints_a_table_or_writes_it(run, tmp_path):
    printed = viewvote("report", run.parent)
    assert printed.exit_code == 0
    assert printed.stdout.startswith("| Method | pets |")
    page = tmp_path / "page.html"
    assert viewvote("report", run, "--format", "html", "--output", page).stdout == ""
    assert page.read_text().startswith("<!doctype html>")


def test_the_ending_of_the_output_is_its_format(run, tmp_path):
    for words, name, begins in (
        (["report"], "page.htm", "<!doctype html>"),
        (["report"], "table.tex", "%"),
        (["report"], "table.md", "| Method"),
        (["report", "--compare", run], "both.json", "{"),
        (["rescore"], "rows.csv", "method,"),
        (["rescore"], "rows.json", "{"),
    ):
        assert viewvote(*words, run, "--output", tmp_path / name).exit_code == 0
        assert (tmp_path / name).read_text().startswith(begins), name
    for word in ("report", "rescore"):
        refused = viewvote(word, run, "--output", tmp_path / "a.csv", "--format", "json")
        assert refused.exit_code == 2
        assert "is csv by its ending" in refused.stderr
        assert not (tmp_path / "a.csv").exists()


def test_report_compares(run, tmp_path):
    other = write_run(tmp_path / "other", voted(30), method="zero-shot")
    words = viewvote("report", "--compare", run, other)
    assert words.exit_code == 0
    assert "30 images that both runs answered (1 others" in words.stdout
    told = json.loads(viewvote("report", "--compare", run, other, "--format", "json").stdout)
    assert told["real"] is False
    assert told["difference"]["n"] == 30


@pytest.mark.parametrize("words", [["metrics"], ["rescore"], ["rescore", "--keep", "0.5"]])
def test_a_folder_with_one_run_stands_for_it(run, words):
    given = viewvote(*words, run.parent)
    assert given.exit_code == 0
    assert given.stdout == viewvote(*words, run).stdout


def test_runs_to_compare_may_be_the_only_ones_of_their_folders(run, tmp_path):
    other = write_run(tmp_path / "others" / "b", voted(30), method="zero-shot")
    by_folder = viewvote("report", "--compare", run.parent, other.parent)
    assert by_folder.exit_code == 0
    assert by_folder.stdout == viewvote("report", "--compare", run, other).stdout


@pytest.mark.parametrize("words", [["metrics", "RUNS"], ["rescore", "RUNS"], ["report", "--compare", "RUNS", "RUN"]])
def test_of_a_folder_with_several_runs_one_must_be_named(run, words):
    other = write_run(run.parent / "b", voted(30), method="zero-shot")
    places = {"RUNS": run.parent, "RUN": run}
    refused = viewvote(*(places.get(word, word) for word in words))
    assert refused.exit_code == 2
    assert f"Give one of: {run}, {other}\n" in refused.stderr
    assert refused.stderr.count("\n") == 1


def test_metrics_prints_a_sheet(run):
    assert "top-1" in viewvote("metrics", run).stdout
    assert json.loads(viewvote("metrics", run, "--json", "--bins", "5").stdout)["top-1"]["n"] == 30


def test_records_that_were_lost_since_the_summary_are_told(run):
    lines = (run / "records.jsonl").read_text().splitlines(keepends=True)
    (run / "records.jsonl").write_text("".join(lines[:12]))
    for command_name in ("report", "metrics", "rescore"):
        assert "not complete" in viewvote(command_name, run).stdout


def test_rescore_lists_zero_shot_and_every_setting(run):
    result = viewvote("rescore", run, "--keep", "0.1,0.3", "--views", "4,12", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert [(row["method"], row["views"], row["keep"]) for row in rows] == [
        ("zero-shot", "1", ""),
        ("zero", "4", "0.1"),
        ("zero", "4", "0.3"),
        ("zero", "12", "0.1"),
        ("zero", "12", "0.3"),
    ]
    assert all(row["n"] == "30" and row["errors"] == "1" for row in rows)
    recorded = sum(record.correct for record in voted(30)) / 30
    assert float(rows[-1]["top1"]) == recorded


def test_rescore_takes_its_defaults_from_the_run_and_all_tie_rules(run):
    told = json.loads(viewvote("rescore", run, "--tie", "all", "--format", "json").stdout)
    assert [row["tie"] for row in told["rows"]] == [None, *TIE_RULES]
    assert {row["views"] for row in told["rows"][1:]} == {12}
    table = viewvote("rescore", run).stdout.splitlines()
    assert table[0] == "pets (full split), pocket, seed 0"
    assert len({len(line) for line in table[1:]}) == 1


def test_rescore_scores_the_anchored_vote_with_several_weights(run):
    result = viewvote("rescore", run, "--method", "anchored", "--weight", "0,1.5", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert [(row["method"], row["weight"]) for row in rows] == [
        ("zero-shot", ""),
        ("anchored", "0.0"),
        ("anchored", "1.5"),
    ]
    (zero,) = json.loads(viewvote("rescore", run, "--format", "json").stdout)["rows"][1:]
    assert float(rows[1]["top1"]) == zero["top1"]
    assert "weight" not in zero
    table = viewvote("rescore", run, "--method", "anchored", "--weight", "0,1.5").stdout.splitlines()
    assert table[1].split()[:5] == ["method", "views", "keep", "tie", "weight"]
    assert len({len(line) for line in table[1:]}) == 1


@pytest.mark.parametrize("settings", [[], ["--set", "weight=0.7"]])
def test_rescore_gives_the_answers_of_an_anchored_run(tmp_path, settings):
    data = colour_folder(tmp_path / "data")
    flags = ["--model", "toy", "--views", "12", "--method", "anchored", "--out", tmp_path / "runs", *settings]
    done = viewvote("eval", "--dataset", data, *flags)
    assert done.exit_code == 0, done.stderr
    (run,) = (tmp_path / "runs").iterdir()
    records = [json.loads(line) for line in (run / "records.jsonl").read_text().splitlines()]
    (row,) = json.loads(viewvote("rescore", run, "--method", "anchored", "--format", "json").stdout)["rows"][1:]
    assert row["top1"] == sum(record["correct"] for record in records) / len(records)
    (answers,) = rescore(run / "records.jsonl", [Setting(12, weight=row["weight"])])
    assert answers.index.tolist() == [record["index"] for record in records]
    assert answers.confidence == pytest.approx([record["confidence"] for record in records], abs=1e-6)
    assert len({record["confidence"] for record in records}) > 3
    likeness = json.loads((run / "environment.json").read_text()).get("likeness")
    assert row["weight"] == (0.7 if settings else weight_for(likeness))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["report"], "name the runs"),
        (["report", "RUN", "--format", "docx"], "no format 'docx'"),
        (["report", "RUN", "--layout", "ndz"], "Did you mean 'nds'"),
        (["report", "RUN", "--compare", "RUN", "RUN"], "leave the others out"),
        (["report", "RUN", "--output", "nowhere/x.md"], "cannot write"),
        (["rescore", "RUN", "--keep", "a"], "--keep takes numbers"),
        (["rescore", "RUN", "--views", "13"], "only 12"),
        (["rescore", "RUN", "--views", "4.5"], "whole numbers"),
        (["rescore", "RUN", "--tie", "gredy"], "Did you mean 'greedy'"),
        (["rescore", "RUN", "--tie", "all", "--views", "4"], "recorded number of views only"),
        (["rescore", "RUN", "--method", "mta"], "no method to rescore 'mta'"),
        (["rescore", "RUN", "--weight", "1"], "belongs to --method anchored"),
        (["rescore", "RUN", "--method", "anchored"], "Give --weight"),
        (["rescore", "RUN", "--method", "anchored", "--weight", "a"], "--weight takes numbers"),
        (["rescore", "RUN", "--method", "anchored", "--weight", "-1"], "at least 0"),
        (["rescore", "RUN", "--format", "html"], "no format 'html'"),
        (["metrics", "RUN", "--plot", "x.gif"], "a plot is written as"),
    ],
)
def test_mistakes_are_told_in_one_line_and_end_with_2(run, arguments, message):
    result = viewvote(*[run if one == "RUN" else one for one in arguments])
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_what_is_no_run_is_a_usage_error(tmp_path):
    assert viewvote("report", tmp_path).exit_code == 2
    assert viewvote("rescore", tmp_path).exit_code == 2
    empty = write_run(tmp_path / "empty", [failed_record(OSError("x"), key="x", target=0)])
    assert "nothing to score" in viewvote("rescore", empty).stderr
    assert viewvote("metrics", write_run(tmp_path / "few", answers(2, 1))).exit_code == 0
