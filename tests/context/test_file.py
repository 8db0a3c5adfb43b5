"""Contexts as files: the same after a round trip, and an error with the name of what is wrong otherwise."""

import json

import numpy as np
import pytest

from viewvote.context import Context
from viewvote.context.base import digest_of
from viewvote.context.file import read_context, write_context
from viewvote.context.shares import read_shares
from viewvote.errors import UsageError


def context(**changes):
    values = {
        "offsets": np.array([0.1, -0.30000001, 0.2], dtype=np.float32),
        "n": 40,
        "effective": 2.5,
        "share": 0.75,
        "estimator": "leaks",
        "labels": "0123456789ab",
        "model": "pocket",
        "fingerprint": "f",
        "note": "context: 2 of 3 labels fill this folder; 75% of it used",
    }
    return Context(**(values | changes))


@pytest.mark.parametrize("teacher", [None, context(model="other", note=None)])
def test_a_file_gives_back_the_same_context(tmp_path, teacher):
    path, written = tmp_path / "my.context.json", context(teacher=teacher)
    write_context(written, path)
    found = read_context(path)
    assert found.offsets.tobytes() == written.offsets.tobytes()
    assert found.digest == written.digest
    assert (found.n, found.effective, found.share, found.note) == (40, 2.5, 0.75, written.note)
    assert (found.teacher is None) is (teacher is None)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("format", "viewvote-calibration-1"),
        ("offsets", []),
        ("offsets", [0.1, "a"]),
        ("offsets", [0.1, float("nan")]),
        ("offsets", [0.1, 1e9]),
        ("offsets", [True]),
        ("n", -1),
        ("n", 1.5),
        ("effective", None),
        ("share", float("inf")),
        ("estimator", "guess"),
        ("labels", 5),
        ("note", 5),
        ("teacher", []),
        ("teacher", {"offsets": [0.1]}),
    ],
)
def test_what_is_wrong_in_a_file_is_named(tmp_path, key, value):
    path = tmp_path / "c.json"
    write_context(context(), path)
    path.write_text(json.dumps(json.loads(path.read_text()) | {key: value}))
    with pytest.raises(UsageError, match=key if key != "teacher" or value == [] else "labels"):
        read_context(path)


@pytest.mark.parametrize("text", ["", "[1]", "{}", "\xff"])
def test_other_files_are_refused(tmp_path, text):
    (tmp_path / "c.json").write_text(text, encoding="latin-1")
    with pytest.raises(UsageError):
        read_context(tmp_path / "c.json")


def test_a_teacher_has_no_teacher(tmp_path):
    write_context(context(teacher=context(teacher=context())), tmp_path / "c.json")
    with pytest.raises(UsageError, match="teacher"):
        read_context(tmp_path / "c.json")


def test_a_folder_that_is_not_there_cannot_be_written(tmp_path):
    with pytest.raises(UsageError, match="cannot write"):
        write_context(context(), tmp_path / "no" / "c.json")


def test_the_part_taken_off_is_of_the_odds():
    found = context(offsets=np.log(np.array([1 / 0.91, 0.5, 1.0], dtype=np.float32)))
    assert found.taken_off(0) == pytest.approx(0.09, abs=1e-6)
    assert found.taken_off(1) == pytest.approx(-1.0)
    assert found.strongest() == 0
    assert found.is_used
    assert not context(offsets=np.zeros(3, dtype=np.float32)).is_used


def test_the_digest_of_labels_depends_on_their_order_the_templates_and_vectors_that_were_given():
    plain = digest_of(["a", "b"], ["a {}."])
    assert plain == digest_of(["a", "b"], ["a {}."])
    others = [
        digest_of(["b", "a"], ["a {}."]),
        digest_of(["ab"], ["a {}."]),
        digest_of(["a", "b"], ["the {}."]),
        digest_of(["a", "b"], ["a {}."], features=np.eye(2, dtype=np.float32)),
    ]
    assert len({plain, *others}) == 5


def test_shares_are_read_in_the_order_of_the_labels(tmp_path):
    (tmp_path / "mix.json").write_text('{"b": 1, "a": 0.5}')
    assert read_shares(tmp_path / "mix.json", ["a", "b"]) == [0.5, 1.0]


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ('{"a": 1}', "no share of 'b'"),
        ('{"a": 1, "b": 1, "c": 1}', "'c'"),
        ('{"a": 1, "b": "x"}', "'x'"),
        ("1", "object"),
    ],
)
def test_shares_of_other_labels_are_named(tmp_path, text, match):
    (tmp_path / "mix.json").write_text(text)
    with pytest.raises(UsageError, match=match):
        read_shares(tmp_path / "mix.json", ["a", "b"])
