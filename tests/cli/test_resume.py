"""A file of predictions is continued only by the run that began it."""

import csv
import io
import json
import os
import shutil
from functools import cache

import pytest
from PIL import Image
from typer.testing import CliRunner

from viewvote import Classifier
from viewvote.cli import flat_csv
from viewvote.cli.commands import app
from viewvote.cli.output import scores_shown
from viewvote.cli.resume import as_written, done_before
from viewvote.outputs import lock_output

TOY = ["--model", "toy", "--views", "8"]


@pytest.fixture
def pictures(tmp_path):
    for folder, colour in (("a", (250, 0, 0)), ("b", (0, 250, 0))):
        (tmp_path / folder).mkdir()
        Image.new("RGB", (30, 20), colour).save(tmp_path / folder / "x.png")
    return [str(tmp_path / "a" / "x.png"), str(tmp_path / "b" / "x.png")]


def classify(*args, labels="red,green"):
    return CliRunner().invoke(app, ["classify", *map(str, args), "--labels", labels])


def test_a_csv_that_has_its_header_only_gets_no_second_one(pictures, tmp_path):
    out = tmp_path / "o.csv"
    args = [*pictures, *TOY, "--format", "csv", "--output", out, "--resume"]
    assert classify(*args).exit_code == 0
    whole = out.read_text()
    out.write_text(whole.split("\n", 1)[0] + "\n")
    assert classify(*args).exit_code == 0
    assert [row["label"] for row in csv.DictReader(io.StringIO(out.read_text()))] == ["red", "green"]
    assert out.read_text().count("vote_share") == 1
    out.write_text(whole[:10])  # not even the header is whole
    assert classify(*args).exit_code == 0
    assert out.read_text().splitlines()[0] == whole.splitlines()[0]


@pytest.mark.parametrize("fmt", ["jsonl", "csv"])
@pytest.mark.parametrize(
    ("other", "told"),
    [
        ({"labels": "green,red"}, "other labels"),
        ({"labels": "red,green,blue"}, "2 scores"),
        ({"labels": "red,blue"}, "other labels"),
        ({"options": ["--views", "4"]}, "views_used 8"),
        ({"options": ["--method", "zero-shot"]}, "method 'anchored'"),
        ({"options": ["--teacher", "toy"]}, "model 'toy'"),
    ],
)
def test_the_answers_to_another_question_are_not_mixed_in(pictures, tmp_path, fmt, other, told):
    out = tmp_path / "o.out"
    args = ["--format", fmt, "--output", out, "--resume"]
    assert classify(pictures[0], *TOY, *args).exit_code == 0
    before = out.read_bytes() + b"cut"
    out.write_bytes(before)
    refused = classify(*pictures, *TOY, *other.get("options", []), *args, labels=other.get("labels", "red,green"))
    assert refused.exit_code == 2
    assert told in refused.stderr
    assert out.read_bytes() == before


@pytest.mark.parametrize(
    "name", ["=cmd.png", "two\nlines.png", 'a "quote", and\rmore.png', "x" * 200 + ".png", "'=mark.png"]
)
def test_a_csv_is_continued_whatever_the_names_are(pictures, tmp_path, name, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Image.new("RGB", (30, 20), (250, 0, 0)).save(name)
    args = [name, *pictures, *TOY, "--output", "o.csv", "--resume"]
    assert classify(*args).exit_code == 0
    whole = (tmp_path / "o.csv").read_bytes()
    assert "0 classified, 0 failed, 3 done before" in classify(*args).stderr
    for cut in range(len(whole.split(b"\n", 1)[0]), len(whole)):
        (tmp_path / "o.csv").write_bytes(whole[:cut])
        rows = flat_csv.whole_rows(whole[:cut]).decode()
        assert len(flat_csv.read_rows(rows, top=3)) <= 2
    (tmp_path / "o.csv").write_bytes(whole[: whole.index(b".png") + 2])  # in the middle of the first name
    assert classify(*args).exit_code == 0
    assert (tmp_path / "o.csv").read_bytes() == whole


@pytest.mark.parametrize("name", ["o.csv", "o.jsonl"])
def test_none_of_these_may_be_continued(pictures, tmp_path, name):
    args = [*TOY, "--none", "--multi-label", "--output", tmp_path / name, "--resume"]
    assert classify(pictures[0], *args, labels="green,blue").exit_code == 0
    assert "none of these" in (tmp_path / name).read_text()
    again = classify(*pictures, *args, labels="green,blue")
    assert "1 classified, 0 failed, 1 done before" in again.stderr
    if name == "o.csv":
        rows = [*csv.DictReader(io.StringIO((tmp_path / name).read_text()))]
        assert [row["shown"] for row in rows] == ["", "green"]


def test_labels_longer_than_the_csv_module_reads_are_continued(pictures, tmp_path):
    labels = "red," + "green" * 30_000
    args = [*pictures, *TOY, "--output", tmp_path / "o.csv", "--resume"]
    assert classify(*args, labels=labels).exit_code == 0
    assert "2 done before" in classify(*args, labels=labels).stderr


def test_images_that_failed_are_tried_again_and_their_rows_replaced(pictures, tmp_path):
    broken = tmp_path / "broken.png"
    broken.write_bytes(b"x")
    out = tmp_path / "o.csv"
    args = [broken, *pictures, *TOY, "--output", out, "--resume"]
    for _ in range(2):
        assert classify(*args).exit_code == 1
        rows = [*csv.DictReader(io.StringIO(out.read_text()))]
        assert sorted((row["path"], row["label"]) for row in rows) == sorted(
            [(str(broken), ""), (pictures[0], "red"), (pictures[1], "green")]
        )
        assert [row["error"] for row in rows if row["error"]] == [
            f"cannot decode {broken}: it is not an image in a known format."
        ]
    Image.new("RGB", (30, 20), (0, 250, 0)).save(broken)
    again = classify(*args)
    assert again.exit_code == 0
    assert "1 classified, 0 failed, 2 done before" in again.stderr
    rows = [*csv.DictReader(io.StringIO(out.read_text()))]
    assert [(row["path"], row["label"], row["error"]) for row in rows][-1] == (str(broken), "green", "")
    assert len(rows) == 3


def test_adaptive_views_may_be_continued(pictures, tmp_path):
    args = ["--model", "toy", "--views", "adaptive", "--format", "jsonl", "--output", tmp_path / "o.jsonl", "--resume"]
    assert classify(pictures[0], *args).exit_code == 0
    assert classify(*pictures, *args).exit_code == 0
    assert len((tmp_path / "o.jsonl").read_text().splitlines()) == 2


def test_a_label_that_abstained_may_be_continued(pictures, tmp_path):
    for fmt in ("jsonl", "csv"):
        args = [*TOY, "--abstain-below", "1", "--method", "zero", "--set", "zero_temperature=eps-fp16"]
        args += ["--format", fmt, "--output", tmp_path / fmt, "--resume"]
        assert classify(pictures[0], *args, labels="green,blue").exit_code == 0
        assert classify(*pictures, *args, labels="green,blue").exit_code == 0


@pytest.mark.parametrize("fmt", ["jsonl", "csv"])
def test_line_separators_of_unicode_are_no_ends_of_lines(pictures, tmp_path, fmt):
    odd = tmp_path / "odd\u2028na\u0085me.png"
    Image.new("RGB", (30, 20), (250, 0, 0)).save(odd)
    args = [*TOY, "--format", fmt, "--output", tmp_path / "o.out", "--resume"]
    assert classify(odd, *args, labels="red,gr\u2028een").exit_code == 0
    again = classify(odd, pictures[1], *args, labels="red,gr\u2028een")
    assert again.exit_code == 0
    assert "1 classified, 0 failed, 1 done before" in again.stderr


@pytest.mark.skipif(os.name == "nt", reason="such names do not exist there")
@pytest.mark.parametrize("fmt", ["jsonl", "csv"])
@pytest.mark.parametrize("name", [b"new\nline.png", b"re\rturn.png", b'quo"te,d.png', b"\xff.png"])
def test_any_file_name_is_written_so_that_the_file_can_be_continued(pictures, tmp_path, fmt, name):
    odd = tmp_path / os.fsdecode(name)
    shutil.copy(pictures[0], odd)
    args = [*TOY, "--format", fmt, "--output", tmp_path / "o.out", "--resume"]
    assert classify(odd, *args).exit_code == 0
    whole = (tmp_path / "o.out").read_bytes()
    again = classify(odd, pictures[1], *args)
    assert (again.exit_code, again.stderr) == (0, "viewvote: 1 classified, 0 failed, 1 done before.\n")
    both = (tmp_path / "o.out").read_bytes()
    assert both.startswith(whole)
    for cut in range(len(whole), len(both), 7):  # wherever a crash cuts the second row, the first one is kept
        (tmp_path / "o.out").write_bytes(both[:cut])
        assert done_in(tmp_path / "o.out", fmt) == {as_written(str(odd))}
        assert (tmp_path / "o.out").read_bytes() == whole


@pytest.mark.skipif(os.name == "nt", reason="such names do not exist there")
def test_a_row_that_is_cut_inside_its_quotes_is_no_row(pictures, tmp_path):
    (tmp_path / "new\nline").mkdir()
    odd = tmp_path / "new\nline" / "a.png"
    shutil.copy(pictures[0], odd)
    out = tmp_path / "o.csv"
    assert classify(odd, *TOY, "--format", "csv", "--output", out).exit_code == 0
    header, rest = out.read_bytes().split(b"\n", 1)
    out.write_bytes(header + b"\n" + rest[: rest.index(b"\n") + 3])
    assert done_in(out, "csv") == set()
    assert out.read_bytes() == header + b"\n"


@cache
def toy_classifier():
    return Classifier("toy", labels=["red", "green"], n_views=8)


def done_in(path, fmt):
    return done_before(path, fmt, top=scores_shown(fmt, None), classifier=toy_classifier())


@pytest.mark.parametrize("fmt", ["jsonl", "csv"])
def test_rows_of_any_length_are_continued(pictures, tmp_path, fmt):
    labels = ",".join(f"a rather long name of the label {i} " + "x" * 60 for i in range(2000))
    args = [*TOY, "--format", fmt, "--top", "2000", "--output", tmp_path / "o.out", "--resume"]
    assert classify(pictures[0], *args, labels=labels).exit_code == 0
    assert len((tmp_path / "o.out").read_text().splitlines()[-1]) > 150_000
    again = classify(*pictures, *args, labels=labels)
    assert (again.exit_code, again.stderr) == (0, "viewvote: 1 classified, 0 failed, 1 done before.\n")


@pytest.mark.parametrize("fmt", ["jsonl", "csv"])
@pytest.mark.parametrize(
    "change", [{"index": -10}, {"index": 10**30}, {"index": "one"}, {"scores": [1]}, {"path": 3}, {"views_used": None}]
)
def test_values_that_no_prediction_has_are_refused_and_nothing_is_changed(pictures, tmp_path, fmt, change):
    out = tmp_path / "o.out"
    args = [*TOY, "--format", fmt, "--output", out]
    assert classify(pictures[0], *args).exit_code == 0
    if fmt == "jsonl":
        out.write_text(json.dumps(json.loads(out.read_text()) | change) + "\n")
    else:
        (row,) = csv.DictReader(io.StringIO(out.read_text()))
        if set(change) - set(row):
            pytest.skip("a table has no column of this name")
        lines = [flat_csv.line(list(cells)) for cells in (row, (row | change).values())]
        out.write_text("\n".join([*lines, ""]))
    before = out.read_bytes()
    refused = classify(*pictures, *args, "--resume")
    if fmt == "csv" and change == {"path": 3}:
        assert refused.exit_code == 0  # every cell is a text
        return
    assert refused.exit_code == 2
    assert "nothing was changed" in refused.stderr
    assert out.read_bytes() == before


def test_a_second_process_is_refused_while_the_first_one_writes(pictures, tmp_path):
    out = tmp_path / "o.jsonl"
    with out.open("a") as file:
        lock_output(file, out)
        for option in ("--resume", "--overwrite"):
            refused = classify(*pictures, *TOY, "--format", "jsonl", "--output", out, option)
            assert refused.exit_code == 2
            assert "is being written by another process" in refused.stderr
    assert out.read_bytes() == b""


def test_a_binary_file_or_a_folder_cannot_be_continued(pictures, tmp_path):
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00\n")
    (tmp_path / "list").write_text("[1, 2]\n")
    for name, told in (("binary", "nothing was changed"), ("list", "nothing was changed"), ("a", "it is a folder")):
        done = classify(*pictures, *TOY, "--format", "jsonl", "--output", tmp_path / name, "--resume")
        assert done.exit_code == 2
        assert told in done.stderr
    assert (tmp_path / "binary").read_bytes() == b"\xff\xfe\x00\n"


def test_a_resumed_run_leaves_the_pictures_it_has_drawn_and_the_page_has_all(pictures, tmp_path):
    why = tmp_path / "why"
    args = [*TOY, "--output", tmp_path / "o.jsonl", "--explain", why, "--resume"]
    assert classify(*pictures, *args).exit_code == 0
    drawn = {str(p): p.read_bytes() for p in why.rglob("*") if p.is_file()}
    assert sorted(p.name for p in why.glob("*.webp")) == ["x-2.webp", "x.webp"]
    first, _ = (tmp_path / "o.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "o.jsonl").write_text(first)
    (why / "x-2.webp").unlink()
    shown = (why / "gallery.jsonl").read_text()
    (why / "gallery.jsonl").write_text(shown[:-20])
    assert classify(*pictures, *args).exit_code == 0
    assert {str(p): p.read_bytes() for p in why.rglob("*") if p.is_file()} == drawn
    rows = [json.loads(line) for line in (tmp_path / "o.jsonl").read_text().splitlines()]
    assert [row["path"] for row in rows] == pictures
