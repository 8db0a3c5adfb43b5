"""`viewvote classify` on shards and tables, as a process."""

import csv
import io
import json
import subprocess
import sys

import pytest

from benchmarks.shelves import label, picture
from tests.bulk.jobs import rows_of, shards
from tests.cli.as_process import LABELS, TOY, viewvote

pytest.importorskip("pyarrow")


def test_shards_to_a_table_and_back_again(tmp_path):
    places = shards(tmp_path / "in")
    args = ["classify", places, *LABELS, *TOY, "--output", f"{tmp_path}/answers.parquet/", "--keep-columns", "id,txt"]
    done = viewvote(*args)
    assert done.returncode == 0, done.stderr
    assert done.stdout == b""
    assert done.stderr.decode().splitlines()[-1] == "viewvote: 15 classified, 0 failed."
    rows = rows_of(tmp_path / "answers.parquet")
    assert [row["label"] for row in rows] == [row["txt"] for row in rows] == [label(i) for i in range(15)]
    assert viewvote(*args).returncode == 0
    changed = viewvote(*args, "--seed", "1")
    assert changed.returncode == 2
    assert "was begun with seed 0, now it is seed 1" in changed.stderr.decode()


def test_lines_are_those_of_single_files_with_the_kept_columns(tmp_path):
    places = shards(tmp_path / "in", number=1)
    (tmp_path / "0.png").write_bytes(picture(0))
    args = [*LABELS, *TOY, "--format", "jsonl"]
    lines = viewvote("classify", places, *args, "--keep-columns", "id").stdout.splitlines()
    (single,) = viewvote("classify", tmp_path / "0.png", *args).stdout.splitlines()
    first, single = json.loads(lines[0]), json.loads(single)
    assert first.pop("columns") == {"id": 0}
    assert first.pop("path") == f"{tmp_path}/in/0.tar#0000.png"
    for one in (first, single):
        one.pop("timings")
        one.pop("path", None)
    assert first == single
    table = viewvote("classify", places, *LABELS, *TOY, "--format", "csv", "--keep-columns", "id").stdout.decode()
    assert [row["id"] for row in csv.DictReader(io.StringIO(table))] == ["0", "1", "2", "3", "4"]


def test_lines_are_continued(tmp_path):
    places = shards(tmp_path / "in", number=1)
    args = ["classify", places, *LABELS, *TOY, "--format", "jsonl", "--output", tmp_path / "o.jsonl"]
    assert viewvote(*args).returncode == 0
    whole = (tmp_path / "o.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "o.jsonl").write_text("".join(whole[:2]))
    done = viewvote(*args, "--resume")
    assert "3 classified, 0 failed" in done.stderr.decode()
    keys = [json.loads(line)["path"] for line in (tmp_path / "o.jsonl").read_text().splitlines()]
    assert keys == [json.loads(line)["path"] for line in whole]


def test_errors_end_with_1_and_are_in_the_table(tmp_path):
    (tmp_path / "t.jsonl").write_text('{"url": "gone.png"}\n')
    done = viewvote("classify", tmp_path / "t.jsonl", *LABELS, *TOY, "--output", tmp_path / "o.parquet")
    assert done.returncode == 1
    assert "0 classified, 1 failed" in done.stderr.decode()
    (row,) = rows_of(tmp_path / "o.parquet")
    assert "No such file" in row["error"]


@pytest.mark.parametrize(
    ("flags", "problem"),
    [
        (["s.tar", "-"], "'-' is one image on standard input"),
        (["s.tar", "--engine", "ray"], "--engine ray writes a table"),
        (["s.tar", "--output", "o.parquet", "--format", "csv"], "leave --format and --trace out"),
        (["s.tar", "--output", "memory://x/answers"], "--output memory://x/answers must end in .parquet"),
        (["s.tar", "--output", "s3://"], "--output s3:// must end in .parquet"),
        (["s.tar", "--output", "https://x/t.parquet"], "a web server takes no files"),
        (["s.tar", "--output", "hf://datasets/a/b/t.parquet"], "each part would be a commit"),
        (["s.tar", "--explain", "x"], "--explain draws single files"),
        (["gone.tar"], "no such file or folder: gone.tar"),
        (["nothing://x/*.jpg"], "cannot use nothing://x"),
    ],
)
def test_mistakes_end_with_2(tmp_path, flags, problem):
    shards(tmp_path, number=1)
    (tmp_path / "0.tar").rename(tmp_path / "s.tar")
    done = viewvote("classify", *flags, *LABELS, *TOY, cwd=tmp_path)
    assert done.returncode == 2
    assert problem in done.stderr.decode()
    assert "Traceback" not in done.stderr.decode()


def test_a_very_large_folder_is_not_listed_first_and_has_the_same_answers(tmp_path):
    for i in range(6):
        (tmp_path / "in" / str(i % 2)).mkdir(parents=True, exist_ok=True)
        (tmp_path / "in" / str(i % 2) / f"{i}.png").write_bytes(picture(i))
    args = ["classify", str(tmp_path / "in"), *LABELS, *TOY, "--format", "csv"]
    listed = viewvote(*args).stdout
    few = "from viewvote.sources import listing, open; listing.NAMES = open.NAMES = 2; from viewvote.cli import main; "
    gone = "import viewvote.cli.inputs as i; del i.find_images; main()"  # what lists all images
    done = subprocess.run([sys.executable, "-c", few + gone, *args], capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == listed
