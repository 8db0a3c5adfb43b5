"""`viewvote eval` as a process: killed and continued, two at once, specs, errors, quiet."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.cli.as_process import UNMEASURED, viewvote
from tests.datasets.miniature import build
from tests.runs.colour_runs import colour_folder, lines_of, spoil, thresholds
from viewvote.cli.commands import app

TOY = ["--model", "toy", "--views", "4"]


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    return colour_folder(tmp_path_factory.mktemp("data") / "colours")


def evaluated(*args, **options):
    """The summaries that the command prints as JSON."""
    done = viewvote("eval", *args, "--format", "json", **options)
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)


def test_the_result_is_on_stdout_and_nothing_else(photos, tmp_path):
    (summary,) = evaluated("--dataset", photos, *TOY, "--out", tmp_path)
    assert (summary["dataset"], summary["n"], summary["errors"]) == ("colours", 15, 0)
    done = viewvote("eval", "--dataset", photos, *TOY, "--out", tmp_path)
    assert done.returncode == 0
    assert done.stdout.decode().startswith(f"{summary['run']}: top-1 ")
    assert "all 15 samples, 0 errors" in done.stdout.decode()
    assert done.stderr.decode() == f"viewvote: the run is in {tmp_path / summary['run']}\n"
    assert viewvote("eval", "--dataset", photos, *TOY, "--out", tmp_path, "--quiet").stderr == b""


def test_a_dataset_of_the_catalog_is_found_below_the_root_and_never_called_full_unless_it_is(tmp_path):
    build(tmp_path, "eurosat")
    (summary,) = evaluated("--dataset", "eurosat", "--root", tmp_path, *TOY, "--out", tmp_path / "runs")
    assert (summary["dataset"], summary["n"], summary["errors"], summary["full_split"]) == ("eurosat", 10, 0, False)
    done = viewvote("eval", "--dataset", "eurosat", *TOY, env={"VIEWVOTE_DATA": ""})
    assert done.returncode == 2
    assert "--root DIR" in done.stderr.decode()


def test_a_dataset_that_is_not_all_there_is_told_before_and_after(tmp_path):
    build(tmp_path, "eurosat")
    command = ["eval", "--dataset", "eurosat", "--root", str(tmp_path), *TOY, "--out", str(tmp_path / "runs")]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0
    assert done.stderr.startswith("viewvote: eurosat: 10 images; the full test split has 8,100.\n")
    assert "all 10 samples, but not the official split of 8,100, 0 errors" in done.stdout
    (folder,) = (tmp_path / "runs").iterdir()
    told = json.loads((folder / "summary.json").read_text())
    assert (told["split_size"], told["notes"][0]) == (8100, "10 images; the full test split has 8,100.")
    assert "10 images; the full test split has 8,100." in (folder / "run.log").read_text()
    quiet = CliRunner().invoke(app, [*command, "--quiet"])
    assert (quiet.stderr, quiet.stdout) == ("", done.stdout)


def test_seeds_limit_and_settings_from_flags_and_from_a_file_are_the_same_runs(photos, tmp_path):
    flags = ["--seeds", "0,1", "--limit", "6", "--keep", "0.5", "--set", "tie=greedy"]
    by_flags = evaluated("--dataset", photos, *TOY, *flags, "--out", tmp_path)
    (tmp_path / "run.toml").write_text(
        f'dataset = "{photos}"\nmodel = "pocket"\nviews = 4\nseeds = [0, 1]\nlimit = 6\nkeep = 0.5\n'
        '[settings]\ntie = "greedy"\n'
    )
    by_file = evaluated("--spec", tmp_path / "run.toml", "--model", "toy", "--out", tmp_path)
    assert by_file == by_flags
    assert [(run["seed"], run["n"], run["subset"]) for run in by_file] == [(0, 6, True), (1, 6, True)]
    again = evaluated("--spec", Path(by_flags[1]["path"]) / "spec.toml", "--out", tmp_path)
    assert again == by_flags[1:]


@pytest.mark.parametrize(
    ("flags", "order"),
    [
        (["--method", "tda"], "shuffled"),
        (["--method", "tda", "--order", "dataset"], "dataset"),
        (["--method", "zero", "--seeds", "1"], "dataset"),
    ],
)
def test_another_method_for_the_spec_of_a_run_has_its_own_order(photos, tmp_path, flags, order):
    out = ["--out", str(tmp_path / "out")]
    assert CliRunner().invoke(app, ["eval", "--dataset", str(photos), *TOY, "--limit", "2", *out]).exit_code == 0
    (first,) = (tmp_path / "out").iterdir()
    assert CliRunner().invoke(app, ["eval", "--spec", str(first / "spec.toml"), *flags, *out]).exit_code == 0
    (second,) = set((tmp_path / "out").iterdir()) - {first}
    assert f'order = "{order}"' in (second / "spec.toml").read_text()


def test_the_default_method_given_by_a_flag_keeps_the_order_of_the_file(photos, tmp_path):
    (tmp_path / "run.toml").write_text(f'dataset = "{photos}"\norder = "shuffled"\nlimit = 2\n')
    command = ["eval", "--spec", str(tmp_path / "run.toml"), *TOY, "--method", "zero", "--out", str(tmp_path / "out")]
    assert CliRunner().invoke(app, command).exit_code == 0
    (folder,) = (tmp_path / "out").iterdir()
    assert 'order = "shuffled"' in (folder / "spec.toml").read_text()


def test_thresholds_written_to_the_same_file_again_make_another_run(photos, tmp_path):
    adaptive = ["--model", "toy", "--views", "adaptive", "--limit", "2"]
    command = ["eval", "--dataset", str(photos), *adaptive, "--out", str(tmp_path / "out")]
    command += ["--stop", thresholds(tmp_path / "stop.json", 0.9)]
    assert CliRunner().invoke(app, command).exit_code == 0
    (first,) = (tmp_path / "out").iterdir()
    thresholds(tmp_path / "stop.json", 0.1)
    assert CliRunner().invoke(app, command).exit_code == 0
    assert len(list((tmp_path / "out").iterdir())) == 2
    again = ["eval", "--spec", str(first / "spec.toml"), "--out", str(tmp_path / "out")]
    refused = CliRunner().invoke(app, again)
    assert (refused.exit_code, "is not the one of the spec" in refused.stderr) == (2, True)
    assert CliRunner().invoke(app, [*again, "--stop", thresholds(tmp_path / "third.json", 0.5)]).exit_code == 0
    assert len(list((tmp_path / "out").iterdir())) == 3


@pytest.mark.parametrize(
    ("args", "told"),
    [
        ([], "no dataset is named"),
        (["--dataset", "imagnet-a"], "Did you mean 'imagenet-a'"),
        (["--dataset", "{photos}", "--seeds", "a"], "--seeds are whole numbers"),
        (["--dataset", "{photos}", "--method", "zeroo"], "Did you mean 'zero'"),
        (["--dataset", "{photos}", "--set", "kep=1"], "Did you mean 'keep'"),
        (["--dataset", "{photos}", "--views", "0"], "views must be a whole number of at least 1"),
        (["--dataset", "{photos}", "--engine", "ray", "--method", "tda"], "learns from one image to the next"),
        (["--spec", "{photos}/none.toml"], "cannot read the spec"),
    ],
)
def test_mistakes_are_usage_errors_and_leave_no_folder(photos, tmp_path, args, told):
    done = CliRunner().invoke(
        app, ["eval", *(arg.format(photos=photos) for arg in args), "--out", str(tmp_path / "out")]
    )
    assert (done.exit_code, done.stdout) == (2, "")
    assert told in done.stderr
    assert not (tmp_path / "out").exists()


def test_an_unknown_key_in_a_spec_file_is_an_error(tmp_path):
    (tmp_path / "run.toml").write_text('dataset = "pets"\nmodle = "toy"\n')
    done = CliRunner().invoke(app, ["eval", "--spec", str(tmp_path / "run.toml")])
    assert done.exit_code == 2
    assert "a run spec has no key 'modle'. Did you mean 'model'?" in done.stderr


def test_unreadable_images_end_in_exit_code_1_until_they_are_retried(tmp_path):
    photos = colour_folder(tmp_path / "colours", each=2)
    held = spoil(photos / "red" / "0001.png")
    command = ["eval", "--dataset", photos, *TOY, "--out", tmp_path / "runs"]
    done = viewvote(*command)
    assert done.returncode == 1
    assert "all 6 samples, 1 errors" in done.stdout.decode()
    assert "1 of 6 images could not be used" in done.stderr.decode()
    assert viewvote(*command, "--quiet").stderr == b""
    (photos / "red" / "0001.png").write_bytes(held)
    assert viewvote(*command).returncode == 1
    assert viewvote(*command, "--retry-errors").returncode == 0
    assert viewvote(*command).returncode == 0


def start(*args):
    command = [sys.executable, "-m", "viewvote", "eval", *map(str, args)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=UNMEASURED)


def records_in(out):
    return sum(path.read_bytes().count(b"\n") for path in out.glob("*/records.jsonl"))


def wait_for(condition, process):
    for _ in range(3000):
        if condition() or process.poll() is not None:
            return
        time.sleep(0.01)
    raise TimeoutError


@pytest.fixture(scope="module")
def many_photos(tmp_path_factory):
    return colour_folder(tmp_path_factory.mktemp("many") / "colours", each=100)


def test_killed_five_times_it_ends_with_the_records_of_an_uninterrupted_run(many_photos, tmp_path):
    command = ["--dataset", many_photos, *TOY]
    rng = random.Random(0)
    kills = 0
    for goal in sorted(rng.sample(range(1, 200), 5)):
        with start(*command, "--out", tmp_path / "a") as process:
            wait_for(lambda goal=goal: records_in(tmp_path / "a") >= goal, process)
            kills += process.poll() is None
            process.kill()
        before = records_in(tmp_path / "a")
    assert kills == 5
    assert before < 300
    (resumed,) = evaluated(*command, "--out", tmp_path / "a")
    (whole,) = evaluated(*command, "--out", tmp_path / "b")
    assert lines_of(resumed["path"]) == lines_of(whole["path"])
    assert len(lines_of(whole["path"])) == 300


def test_the_second_process_is_refused_while_the_first_is_at_work(many_photos, tmp_path):
    command = ["--dataset", many_photos, *TOY, "--out", tmp_path]
    with start(*command) as first:
        wait_for(lambda: records_in(tmp_path) > 0, first)
        os.kill(first.pid, signal.SIGSTOP)
        second = viewvote("eval", *command)
        os.kill(first.pid, signal.SIGCONT)
        out, _ = first.communicate(timeout=60)
    assert second.returncode == 1
    assert f"in use by process {first.pid}" in second.stderr.decode()
    assert b"all 300 samples, 0 errors" in out


def test_interrupted_by_the_user_it_says_so_and_continues(many_photos, tmp_path):
    command = ["--dataset", many_photos, *TOY, "--out", tmp_path]
    with start(*command) as process:
        wait_for(lambda: records_in(tmp_path) > 0, process)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=60)
    assert process.returncode == 130
    assert told == b"viewvote: interrupted. The same command goes on from here.\n"
    assert viewvote("eval", *command).returncode == 0


def test_the_log_file_tells_what_happened(photos, tmp_path):
    evaluated("--dataset", photos, *TOY, "--out", tmp_path / "runs", "--log-file", tmp_path / "all.log", "--quiet")
    told = (tmp_path / "all.log").read_text()
    assert "0 of 15 records are there" in told
    assert "complete: colours-toy-zero-" in told
