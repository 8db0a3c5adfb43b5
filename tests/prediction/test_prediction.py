"""The words everyone uses, and the one JSON that all of them are written as."""

import json

import numpy as np
import pytest

from viewvote.prediction import Box, Prediction, Trace, ViewTable, ViewTrace, label_keys

FIRST = [
    "path",
    "label",
    "index",
    "probability",
    "confidence",
    "confidence_is",
    "vote_share",
    "probabilities",
    "scores",
    "votes",
]
CONTRACT = [*FIRST, "kept_views", "tie_break", "method", "model", "timings", "views_used"]


def prediction(**changes):
    values = {
        "labels": ("cat", "dog", "rocket"),
        "index": 1,
        "probability": 0.7,
        "scores": np.array([0.5, 0.5, 0], dtype=np.float32),
        "votes": np.array([2, 2, 0]),
        "method": "zero",
        "model": "toy",
        "tie_break": "greedy",
        "path": "a.jpg",
        "timings": {"encode": 0.1},
    }
    return Prediction(**(values | changes))


COLUMNS = ViewTable(
    np.array([1, 0]), np.array([0.125, 1.0], np.float32), np.array([0.75, 0.5], np.float32), np.array([True, False])
)
VIEWS = COLUMNS.located([Box(0, 0, 10, 8.5), Box(1, 2, 3, 4)], [False, True], names=("cat", "dog", "rocket"))


def test_the_public_keys_are_a_contract():
    assert list(prediction().to_dict()) == CONTRACT
    assert list(prediction(trace=Trace(VIEWS)).to_dict(trace=True)) == [*CONTRACT, "trace"]
    assert "trace" not in prediction(trace=Trace(VIEWS)).to_dict()
    assert "trace" not in prediction().to_dict(trace=True)


def test_to_dict_is_json_with_plain_numbers():
    got = json.loads(json.dumps(prediction(trace=Trace(VIEWS)).to_dict(trace=True)))
    assert got["label"] == "dog"
    assert got["scores"] == {"dog": 0.5, "cat": 0.5, "rocket": 0.0}
    assert got["votes"] == {"dog": 2, "cat": 2, "rocket": 0}
    assert got["trace"]["views"][0] == {
        "box": [0, 0, 10, 8.5],
        "flip": False,
        "label": "dog",
        "entropy": 0.125,
        "top_probability": 0.75,
        "kept": True,
    }


def test_the_probability_stands_beside_the_vote_share():
    got = prediction(views_used=4).to_dict()
    assert (got["vote_share"], got["probability"], got["confidence"]) == (0.5, 0.7, 0.7)
    assert got["views_used"] == 4
    assert "stop" not in got


def test_the_winner_of_a_tie_ranks_first():
    assert prediction().ranking() == [1, 0, 2]
    assert list(prediction().to_dict()["scores"]) == ["dog", "cat", "rocket"]
    assert list(prediction().to_dict(top=1)["votes"]) == ["dog"]


def test_methods_that_do_not_vote_have_no_votes():
    found = prediction(votes=None)
    assert found.to_dict()["votes"] is None
    assert (found.vote_share, found.kept_votes, found.votes_won) == (None, 0, "")


def test_votes_are_told_with_how_many_there_were():
    assert prediction().votes_won == "2 of 4"
    assert prediction().kept_votes == 4
    assert prediction(votes=np.array([1.25, 2.5, 0.25], dtype=np.float32)).votes_won == "2.5 of 4"


@pytest.mark.parametrize(
    ("stop", "used", "words"),
    [
        (None, 64, ""),
        ("confident", 1, "the source view settled it"),
        ("confident", 5, "5 of 64 views settled it"),
        ("exact", 56, "56 of 64 views settled it, the others could not change it"),
        ("all views", 64, "none of the 64 views could be left out"),
    ],
)
def test_why_no_more_views_were_looked_at_is_told_in_words(stop, used, words):
    assert prediction(stop=stop, views_used=used, views_asked=64).settled == words


def test_the_probabilities_are_the_blend_at_the_answers_probability():
    found = prediction(blend=np.array([0.3, 0.6, 0.1], dtype=np.float32), probability=0.6)
    assert found.probabilities.tolist() == pytest.approx([0.3, 0.6, 0.1])
    surer = prediction(blend=np.array([0.3, 0.6, 0.1], dtype=np.float32), probability=0.8)
    assert surer.probabilities[1] == pytest.approx(0.8)
    assert surer.probabilities.sum() == pytest.approx(1)
    assert surer.ranking() == [1, 0, 2]
    assert list(surer.to_dict(top=2)["probabilities"]) == ["dog", "cat"]


def test_an_abstaining_prediction_keeps_its_best_guess():
    unsure = prediction(abstained=True)
    assert unsure.label is None
    assert unsure.index == 1
    assert unsure.to_dict()["label"] is None


def test_kept_views_are_listed():
    assert prediction(trace=Trace(VIEWS)).kept == (0,)
    assert prediction().kept == ()


def test_a_table_of_views_is_a_sequence_of_rows_with_names():
    dog = ViewTrace(Box(0, 0, 10, 8.5), False, "dog", 0.125, 0.75, True)
    cat = ViewTrace(Box(1, 2, 3, 4), True, "cat", 1.0, 0.5, False)
    assert list(VIEWS) == [dog, cat]
    assert (VIEWS[0], VIEWS[-1], len(VIEWS)) == (dog, cat, 2)
    assert list(VIEWS[1:]) == [cat]
    assert [type(value) for value in (VIEWS[1].entropy, VIEWS[1].kept)] == [float, bool]


def test_tables_are_equal_where_every_column_and_place_is():
    assert VIEWS[:] == VIEWS
    assert VIEWS[:1] != VIEWS
    assert COLUMNS != VIEWS
    assert COLUMNS.located(VIEWS.boxes, VIEWS.flips, names=VIEWS.names) == VIEWS
    assert list(VIEWS) != VIEWS


def test_repeated_labels_stay_apart():
    assert label_keys(("missile", "cat", "missile")) == ("missile", "cat", "missile#2")
    assert label_keys(("x", "x#2", "x")) == ("x", "x#2", "x#2#2")
    assert label_keys(("x", "x", "x#1")) == ("x", "x#1#1", "x#1")
