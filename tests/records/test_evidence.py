"""Records that were edited by hand: whatever is wrong, the error names the record and what was expected of it."""

import json

import numpy as np
import pytest

from tests.records.record_files import draw_logits, voted_record
from viewvote.errors import RecordError
from viewvote.metrics.fit_probability import read_answers
from viewvote.metrics.rescore import Setting, rescore
from viewvote.records.columns import column_pieces, read_columns
from viewvote.records.packing import pack_floats

VIEWS = 6


@pytest.fixture
def edited(tmp_path):
    """Writes a good record and one with some of its values changed; returns the file."""

    def write(**changes):
        rng = np.random.default_rng(7)
        good, bad = (json.loads(voted_record(draw_logits(rng, views=VIEWS), key=key).to_line()) for key in ("a", "b"))
        for name, value in changes.items():
            place = bad["views"] if name in bad["views"] else bad
            place[name] = value(place[name]) if callable(value) else value
        path = tmp_path / "records.jsonl"
        path.write_text("".join(json.dumps(row, separators=(",", ":")) + "\n" for row in (good, bad)))
        return path

    return write


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"target": -1}, "a target that is a class"),
        ({"target": 10**12}, "a target that is a class"),
        ({"index": -2}, "an index that is a class"),
        ({"top5": [-7]}, "classes below 10,000,000 in top5"),
        ({"source_top": [10**7]}, "in source_top"),
        ({"labels": [0, 1, -1, 2, 3, 4]}, "the views' labels"),
        ({"entropy": lambda values: values[:-1]}, "one finite entropy for each view"),
        ({"entropy": lambda values: [1e60, *values[1:]]}, "one finite entropy for each view"),
        ({"top_probability": lambda values: [1.5, *values[1:]]}, r"one top_probability in \[0, 1\]"),
        ({"views_used": 7}, "views_used to be no more than its views"),
        ({"confidence": None}, r"a confidence in \[0, 1\]"),
        ({"probability": -0.1}, r"a probability in \[0, 1\]"),
        ({"source_probability": 2.0}, r"a source_probability in \[0, 1\]"),
        ({"tie_draw": 1.0}, r"a tie_draw in \[0, 1\)"),
    ],
)
@pytest.mark.filterwarnings("ignore:overflow encountered")
def test_numbers_that_no_run_writes_are_named_with_their_record(edited, changes, expected):
    with pytest.raises(RecordError, match=rf"records.jsonl: record 'b' is damaged: expected .*{expected}"):
        read_columns(edited(**changes))


def test_kept_views_and_teachers_of_views_that_are_not_there_are_named(edited):
    path = edited()
    longer, shorter = path.read_text().splitlines()
    row = json.loads(shorter)
    row["views"] = {name: values[:2] for name, values in row["views"].items()} | {"kept": [5]}
    path.write_text(f"{longer}\n{json.dumps(row | {'views_used': 2})}\n")
    with pytest.raises(RecordError, match="record 'b' is damaged: expected kept views to be among its views"):
        read_columns(path)
    row["views"]["kept"] = [0]
    path.write_text(f"{longer}\n{json.dumps(row | {'views_used': 2, 'teacher_labels': [0, 1, 1]})}\n")
    with pytest.raises(RecordError, match="record 'b' is damaged: expected no more teacher_labels than views"):
        read_columns(path)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"candidates": lambda classes: classes[::-1]}, "ascending"),
        ({"candidates": lambda classes: [classes[0], *classes]}, "ascending"),
        ({"candidates": lambda classes: [-1, *classes[1:]]}, "ascending"),
        ({"candidates": lambda classes: [*classes[:-1], 10**7]}, "classes below 10,000,000"),
        ({"candidates": lambda classes: [[one] for one in classes]}, "candidates that are classes"),
        ({"candidates": "text"}, "candidates that are classes"),
        ({"candidates": lambda classes: classes[:-1]}, f"logits of {VIEWS} views and"),
        ({"logits": ""}, f"logits of {VIEWS} views and"),
        ({"logits": "abc"}, "logits that are base64 of finite float32"),
        ({"logits": None}, "logits that are base64 of finite float32"),
        ({"logits": pack_floats([np.nan])}, "logits that are base64 of finite float32"),
        ({"views_used": 0, "views": None}, "logits of 0 views and"),
    ],
)
def test_candidates_and_logits_that_do_not_fit_are_named_when_they_are_unpacked(edited, changes, expected):
    (piece,) = column_pieces(edited(**changes))
    piece.evidence[0].logits()
    with pytest.raises(RecordError, match=f"record 'b' is damaged: expected .*{expected}"):
        piece.evidence[1].logits()


def test_groups_have_a_score_for_each_view_or_none(edited):
    (piece,) = column_pieces(edited(group_marginal=pack_floats([1.0, 2.0]), group_logits=""))
    assert len(piece.evidence[0].groups("group-marginal")) == VIEWS
    assert len(piece.evidence[1].groups("group-logits")) == 0
    with pytest.raises(RecordError, match=f"'b' is damaged: expected scores of the groups of {VIEWS} views, not 2"):
        piece.evidence[1].groups("group-marginal")


@pytest.mark.parametrize("name", ["tie_draw", "source_probability"])
def test_evidence_needs_the_numbers_beside_it(edited, name):
    with pytest.raises(RecordError, match="record 'b' is damaged: expected tie_draw and source_probability"):
        list(column_pieces(edited(**{name: None})))


def test_votes_and_answers_must_be_candidates(edited):
    path = edited(labels=lambda labels: [99] * len(labels), index=99)
    for use in (lambda: rescore(path, [Setting(VIEWS, 0.5, weight=1.0)]), lambda: read_answers(path, votes=True)):
        with pytest.raises(RecordError, match="record 'b' is damaged: expected every class that was voted for"):
            use()


def test_a_probability_is_not_fitted_without_kept_views(edited):
    with pytest.raises(RecordError, match="record 'b' is damaged: expected kept views"):
        read_answers(edited(kept=[]), votes=True)
