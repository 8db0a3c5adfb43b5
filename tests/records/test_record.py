"""Records: one line each, exact, in a fixed order, and nothing is skipped."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import draw_photo
from viewvote import Classifier
from viewvote.classify.evidence import gather_evidence
from viewvote.errors import RecordError, UnreadableImageError
from viewvote.prediction import Prediction, Trace
from viewvote.records.packing import pack_floats, unpack_floats
from viewvote.records.record import (
    Record,
    failed_record,
    record_of,
    shortest,
    without_timings,
)
from viewvote.vote import RankedViews

KEYS = [
    "key",
    "target",
    "index",
    "correct",
    "confidence",
    "probability",
    "votes",
    "tie_break",
    "top5",
    "views",
    "candidates",
    "logits",
    "source_top",
    "source_probability",
    "group_marginal",
    "group_logits",
    "tie_draw",
    "views_used",
    "stop",
    "teacher_labels",
    "notes",
    "error",
    "timings",
]


def predict(**options):
    return Classifier("toy", labels=["red", "green", "blue"], n_views=8, evidence=True, **options)(draw_photo(60, 50))


def test_a_line_has_the_agreed_keys_in_order_and_reads_back_as_the_same_record():
    record = record_of(predict(), key="a/ü.jpg", target=0)
    line = record.to_line()
    assert list(json.loads(line)) == KEYS
    assert "\n" not in line
    assert line.isascii()
    assert Record.from_line(line) == record
    assert Record.from_line(line).to_line() == line


def test_a_record_holds_what_the_prediction_said():
    prediction = predict(method="zero", keep=0.5, stop="exact")
    record = record_of(prediction, key="a.jpg", target=2)
    assert (record.index, record.correct, record.stop) == (prediction.index, prediction.index == 2, "all views")
    assert record.votes == {c: n for c, n in enumerate(prediction.votes.tolist()) if n}
    assert np.flatnonzero(record.views.kept).tolist() == list(prediction.kept)
    assert record.views.entropy.tolist() == [v.entropy for v in prediction.trace.views]
    assert record.views_used == 8
    evidence = prediction.trace.evidence
    assert (unpack_floats(record.logits).reshape(8, -1) == evidence.logits).all()
    assert record.tie_draw == evidence.tie_draw
    assert list(record.timings) == ["read", "render", "encode", "decide", "total"]


def test_views_are_written_as_lists_with_the_kept_ones_most_confident_first():
    prediction = predict(keep=0.5)
    written = json.loads(record_of(prediction, key="a.jpg", target=2).to_line())["views"]
    assert list(written) == ["labels", "entropy", "top_probability", "kept"]
    assert sorted(written["kept"]) == list(prediction.kept)
    assert len(written["kept"]) == 4
    ranked = [written["entropy"][i] for i in written["kept"]]
    assert ranked == sorted(ranked)
    assert np.float32(written["entropy"]).tolist() == [v.entropy for v in prediction.trace.views]


def test_without_timings_two_runs_of_one_image_are_the_same_bytes():
    first, second = (record_of(predict(), key="a.jpg", target=0).to_line() for _ in range(2))
    assert without_timings(first) == without_timings(second)
    assert "timings" not in without_timings(first)


def test_a_failure_is_a_record_without_an_answer():
    record = failed_record(UnreadableImageError("a.jpg is cut off."), key="a.jpg", target=3)
    assert (record.index, record.correct, record.error) == (None, None, "a.jpg is cut off.")
    assert Record.from_line(record.to_line()) == record


def test_a_cascade_keeps_what_both_models_said():
    record = record_of(predict(method="zero", teacher="toy"), key="a.jpg", target=0)
    assert {i for i, label in enumerate(record.teacher_labels) if label >= 0} == set(np.flatnonzero(record.views.kept))
    assert len(record.views.labels) == 8


def test_methods_without_votes_and_predictions_without_evidence_are_recorded_too():
    prediction = Classifier("toy", labels=["red", "green"], method="marginal", n_views=4)(draw_photo(60, 50))
    record = record_of(prediction, key="a.jpg", target=1)
    assert record.votes is None
    assert record.logits == ""
    assert record.tie_draw is None
    assert [["red", "green"][c] for c in record.views.labels] == [v.label for v in prediction.trace.views]
    assert Record.from_line(record.to_line()) == record


def voted(scores, logits, index):
    votes = np.array(scores, dtype=np.int64)
    views = RankedViews(np.array(logits))
    return Prediction(
        labels=tuple(f"c{i}" for i in range(len(scores))),
        index=index,
        probability=0.5,
        scores=(votes / votes.sum()).astype(np.float32),
        votes=votes,
        method="zero",
        model="toy",
        trace=Trace(views.table(views.order), evidence=gather_evidence(views, tie_draw=0.5)),
    )


def test_the_top_five_are_the_winner_then_votes_then_the_source_view():
    source = [0, 1, 2, 3, 4, 5, 6, 7]  # its own five best: 7, 6, 5, 4, 3
    prediction = voted([2, 0, 2, 0, 0, 0, 0, 0], [source, [9, 0, 0, 0, 0, 0, 0, 0], [0, 0, 9, 0, 0, 0, 0, 0]], index=2)
    assert record_of(prediction, key="k", target=0).top5 == (2, 0, 7, 6, 5)


def test_soft_votes_are_written_from_a_ten_thousandth_on():
    prediction = voted([3, 1, 0], [[3, 2, 1]], index=0)
    soft = np.array([2.5, 1e-3, 1e-5], dtype=np.float32)
    changed = Prediction(**(vars(prediction) | {"votes": soft}))
    assert record_of(changed, key="k", target=0).votes == {0: 2.5, 1: 0.001}


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_written_numbers_are_the_same_float32(value):
    written = json.loads(json.dumps(shortest(value)))
    assert np.float32(written).tobytes() == np.float32(value).tobytes()
    assert len(repr(shortest(value))) <= len(repr(value))


def test_floats_are_packed_as_little_endian_float32():
    assert pack_floats([1.0]) == "AACAPw=="  # 00 00 80 3f
    assert unpack_floats(pack_floats([[0.1, -2.0], [3.0, 4.0]])).tolist() == np.float32([0.1, -2, 3, 4]).tolist()


@pytest.mark.parametrize(
    "line",
    ["", "{", "[]", '{"key": "a"}', failed_record(ValueError("x"), key="a", target=0).to_line()[:-20]],
)
def test_other_text_is_refused(line):
    with pytest.raises(RecordError, match="not a record"):
        Record.from_line(line)


def test_views_of_the_wrong_shape_are_refused():
    line = record_of(predict(), key="a", target=0).to_line().replace('"entropy"', '"entropie"')
    with pytest.raises(RecordError, match="not a record"):
        Record.from_line(line)
