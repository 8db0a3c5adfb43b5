"""`viewvote context`, `classify --context` and the line of advice, as processes."""

import json

import numpy as np
import pytest
from PIL import Image

from tests.classify.test_context import tinted
from tests.cli.as_process import LABELS, TOY, viewvote
from viewvote.pictures.explain import MARGIN, SCALE

MODEL = TOY[:2]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("tinted")
    for i, pixels in enumerate(tinted(45, colour=80)):
        Image.fromarray(pixels).save(found / f"{i:02}.png")
    return found


def rows(text):
    return [json.loads(line) for line in text.splitlines()]


def without_timings(found):
    return [{key: value for key, value in row.items() if key != "timings"} for row in found]


def test_a_file_and_self_are_the_same_context(folder, tmp_path):
    out = tmp_path / "my.context.json"
    made = viewvote("context", folder, *LABELS, *MODEL, "--out", out)
    assert made.returncode == 0, made.stderr
    assert "context of 45 photos" in made.stderr.decode()
    assert "off 'red'" in made.stderr.decode()
    by_file = viewvote("classify", folder, *LABELS, *TOY, "--context", out, "--format", "jsonl")
    by_self = viewvote("classify", folder, *LABELS, *TOY, "--context", "self", "--format", "jsonl")
    assert by_file.returncode == by_self.returncode == 0
    assert without_timings(rows(by_file.stdout)) == without_timings(rows(by_self.stdout))
    assert rows(by_file.stdout)[0]["context"]["n"] == 45
    assert "off 'red'" in by_self.stderr.decode()


def test_a_context_of_class_vectors_is_of_those_vectors(folder, tmp_path):
    np.save(tmp_path / "head.npy", np.eye(3, dtype=np.float32))
    head = ["--text-head", tmp_path / "head.npy"]
    made = viewvote("context", folder, *LABELS, *MODEL, *head, "--out", tmp_path / "c.json")
    assert made.returncode == 0, made.stderr
    asked = ["classify", folder, *LABELS, *TOY, "--method", "zero", "--context", tmp_path / "c.json"]
    assert viewvote(*asked, *head).returncode == 0
    other = viewvote(*asked)
    assert other.returncode == 2
    assert b"other labels or templates" in other.stderr


def test_a_file_is_not_replaced_unasked(folder, tmp_path):
    out = tmp_path / "c.json"
    out.write_text("mine")
    refused = viewvote("context", folder, *LABELS, *MODEL, "--out", out)
    assert refused.returncode == 2
    assert b"--overwrite" in refused.stderr
    assert viewvote("context", folder, *LABELS, *MODEL, "--out", out, "--overwrite", "-q").stderr == b""


def test_what_cannot_be_read_is_reported_and_left_out(folder, tmp_path):
    broken = tmp_path / "broken.png"
    broken.write_bytes(b"no picture")
    done = viewvote("context", folder, broken, *LABELS, *MODEL, "--out", tmp_path / "c.json")
    assert done.returncode == 1
    assert b"broken.png" in done.stderr
    assert json.loads((tmp_path / "c.json").read_text())["n"] == 45


def test_a_resumed_run_goes_on_with_the_context_it_began_with(folder, tmp_path):
    out = tmp_path / "answers.jsonl"
    command = ["classify", folder, *LABELS, *TOY, "--context", "self", "--format", "jsonl", "--output", out]
    assert viewvote(*command).returncode == 0
    whole = out.read_text().splitlines(keepends=True)
    out.write_text("".join(whole[:20]) + whole[20][:30])
    (tmp_path / "new").mkdir()
    Image.fromarray(np.full((30, 30, 3), (0, 0, 200), dtype=np.uint8)).save(tmp_path / "new" / "z.png")
    resumed = viewvote(*command, tmp_path / "new", "--resume")
    assert resumed.returncode == 0, resumed.stderr
    again = rows(out.read_text())
    assert without_timings(again[:45]) == without_timings(rows("".join(whole)))
    assert len(again) == 46
    assert {row["context"]["digest"] for row in again} == {again[0]["context"]["digest"]}


def test_answers_with_and_without_context_are_not_mixed_in_one_file(folder, tmp_path):
    out = tmp_path / "answers.jsonl"
    command = ["classify", folder, *LABELS, *TOY, "--format", "jsonl", "--output", out]
    assert viewvote(*command).returncode == 0
    refused = viewvote(*command, "--resume", "--context", "self")
    assert refused.returncode == 2
    assert b"another context" in refused.stderr


def test_a_folder_with_a_pull_is_advised_in_one_line_and_only_without_context(folder):
    said = viewvote("classify", folder, *LABELS, *TOY, "--method", "zero-shot").stderr.decode().splitlines()
    assert len(said) == 2
    assert said[1].startswith("viewvote: 'red' attracts these photos: it is the best label of ")
    assert said[1].endswith("--context self may help.")
    quiet = viewvote("classify", folder, *LABELS, *TOY, "--method", "zero-shot", "--quiet")
    assert quiet.stderr == b""
    in_context = viewvote("classify", folder, *LABELS, *TOY, "--method", "zero-shot", "--context", "self")
    assert b"may help" not in in_context.stderr


def test_a_mix_that_the_user_knows(folder, tmp_path):
    mix = tmp_path / "mix.json"
    mix.write_text('{"red": 1, "green": 1, "blue": 1}')
    for asked, estimator in ((mix, "transport"), ("varied", "mean")):
        done = viewvote(
            "classify", folder, *LABELS, *TOY, "--context", "self", "--context-mix", asked, "--format", "jsonl"
        )
        assert done.returncode == 0, done.stderr
        assert rows(done.stdout)[0]["context"]["estimator"] == estimator


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--context-mix", "varied"], "--context self"),
        (["--context", "none.json"], "none.json"),
        (["--context", "none.json", "--context-mix", "varied"], "viewvote context"),
        (["--context", "self", "--context-mix", "none.json"], "'varied' or a JSON file"),
        (["--context", "self", "--method", "tda"], "takes no context"),
    ],
)
def test_what_does_not_go_together_is_a_usage_error(folder, options, said):
    done = viewvote("classify", folder, *LABELS, *TOY, *options)
    assert done.returncode == 2
    assert said in done.stderr.decode()
    assert b"Traceback" not in done.stderr


def test_standard_input_has_no_context(folder):
    done = viewvote("classify", "-", *LABELS, *TOY, "--context", "self", stdin=(folder / "00.png").read_bytes())
    assert done.returncode == 2
    assert b"only once" in done.stderr


def test_the_picture_of_an_answer_names_what_was_taken_off(folder, tmp_path):
    plain, changed = tmp_path / "plain", tmp_path / "changed"
    one = folder / "00.png"
    made = viewvote("context", folder, *LABELS, *MODEL, "--out", tmp_path / "c.json")
    assert made.returncode == 0
    for where, options in ((plain, []), (changed, ["--context", tmp_path / "c.json"])):
        assert viewvote("classify", one, *LABELS, *TOY, "--explain", where, *options).returncode == 0
    pictures = [np.asarray(Image.open(next(where.glob("00.*"))).convert("L")) for where in (plain, changed)]
    assert pictures[0].shape == pictures[1].shape
    band = slice(MARGIN + 47 * SCALE, MARGIN + 60 * SCALE)  # between the name and the picture
    assert (pictures[0][band] == 255).all()
    assert (pictures[1][band] < 255).any()
