"""`viewvote examples` gives a stranger something to classify, and never writes over another file."""

import shlex
import subprocess
import sys

import pytest

from viewvote.files import example_photos, shipped


def viewvote(*args, cwd):
    command = [sys.executable, "-m", "viewvote", *args]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=120)


def test_what_it_prints_classifies_what_it_wrote(tmp_path):
    done = viewvote("examples", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "viewvote classify examples/photos --labels-file examples/labels.txt\n"
    answered = viewvote(*shlex.split(done.stdout)[1:], cwd=tmp_path)
    assert answered.returncode == 0, answered.stderr
    rows = [line.split() for line in answered.stdout.splitlines()]
    assert [row[0] for row in rows[1:]] == [f"examples/photos/{path.name}" for path in example_photos()]
    assert [row[-1] for row in rows[:1]] == ["label"]


def test_a_table_of_right_answers_is_there_to_evaluate(tmp_path):
    assert viewvote("examples", "my files", cwd=tmp_path).returncode == 0
    done = viewvote(
        "eval", "--dataset", "my files/photos.csv", "--model", "toy", "--views", "2", "--quiet", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr


def test_again_it_changes_nothing_and_another_file_is_left_alone(tmp_path):
    assert viewvote("examples", ".", cwd=tmp_path).returncode == 0
    assert viewvote("examples", ".", cwd=tmp_path).returncode == 0
    (tmp_path / "labels.txt").write_text("mine\n")
    done = viewvote("examples", ".", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "labels.txt is there and is another file: name another folder." in done.stderr
    assert (tmp_path / "labels.txt").read_text() == "mine\n"


def test_where_the_shipped_files_themselves_lie_it_changes_nothing(tmp_path):
    (tmp_path / "examples").symlink_to(shipped("examples"))
    done = viewvote("examples", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("viewvote classify examples/photos ")


def test_a_folder_that_cannot_be_written_is_an_error_of_one_line(tmp_path):
    (tmp_path / "taken").write_text("a file")
    done = viewvote("examples", "taken", cwd=tmp_path)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "taken" in done.stderr


@pytest.mark.parametrize("name", ["labels.txt", "photos.csv", "README.md"])
def test_everything_beside_the_photographs_is_written_too(tmp_path, name):
    assert viewvote("examples", "there", cwd=tmp_path).returncode == 0
    assert (tmp_path / "there" / name).stat().st_size > 0
