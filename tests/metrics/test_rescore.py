"""Rescoring from records gives what the vote gives on the full logits."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.records.record_files import draw_logits, plain_record, voted_record, write_records
from viewvote.errors import UsageError
from viewvote.methods import ViewLogits
from viewvote.methods.anchored import Anchored
from viewvote.metrics.rescore import GROUP_RULES, Setting, rescore, zero_shot_answers
from viewvote.records.columns import column_pieces, read_columns
from viewvote.records.record import failed_record
from viewvote.vote import TIE_RULES, RankedViews, vote

VIEWS = 12
KEEPS = (0.1, 0.3, 0.5, 0.75, 1.0)


def recorded(tmp_path, logits, *, teacher=None, keep=0.3):
    rows = [
        voted_record(
            one, key=str(i), target=i % 3, draw=draw, keep=keep, teacher=None if teacher is None else teacher[i]
        )
        for i, (one, draw) in enumerate(zip(logits, DRAWS, strict=False))
    ]
    return write_records(tmp_path / "records.jsonl", rows)


def ballots_of(logits, *, keep, tie, teacher=None):
    """The vote of each image on its full logits; a teacher's logits are those of all views."""
    found = []
    for i, (one, draw) in enumerate(zip(logits, DRAWS, strict=False)):
        views = RankedViews(one)
        asked = None if teacher is None else teacher[i][views.most_confident(keep)]
        found.append(vote(views, keep=keep, tie=tie, tie_draw=draw, teacher_logits=asked))
    return found


DRAWS = np.random.default_rng(9).random(500).tolist()


@pytest.mark.parametrize("tie", TIE_RULES)
def test_every_keep_and_number_of_views_is_the_vote_on_the_full_logits(tmp_path, tie):
    rng = np.random.default_rng(TIE_RULES.index(tie))
    logits = np.stack([draw_logits(rng, views=VIEWS, classes=30, hard=3.0) for _ in range(120)])
    path = recorded(tmp_path, logits)
    views = (VIEWS,) if tie in GROUP_RULES else (1, 2, 5, 8, VIEWS)
    asked = [Setting(n, keep, tie) for n in views for keep in KEEPS]
    ties = 0
    for setting, answers in zip(asked, rescore(path, asked), strict=True):
        ballots = ballots_of(logits[:, : setting.views], keep=setting.keep, tie=tie)
        assert answers.index.tolist() == [ballot.winner for ballot in ballots], setting
        assert answers.confidence.tolist() == [ballot.share for ballot in ballots]
        assert answers.tied.tolist() == [ballot.tied > 1 for ballot in ballots]
        assert answers.correct.tolist() == [ballot.winner == i % 3 for i, ballot in enumerate(ballots)]
        ties += int(answers.tied.sum())
    assert ties > 50


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    views=st.integers(1, 9),
    classes=st.integers(2, 12),
    keep=st.sampled_from(KEEPS),
    tie=st.sampled_from([rule for rule in TIE_RULES if rule not in GROUP_RULES]),
    data=st.data(),
)
def test_any_image_is_decided_as_the_vote_decides_it(tmp_path_factory, seed, views, classes, keep, tie, data):
    rng = np.random.default_rng(seed)
    # whole numbers: equal entropies and equal logits happen, and must fall the same way
    logits = rng.integers(-2, 3, size=(4, views, classes)).astype(np.float32)
    path = recorded(tmp_path_factory.mktemp("records"), logits)
    fewer = data.draw(st.integers(1, views))
    ballots = ballots_of(logits[:, :fewer], keep=keep, tie=tie)
    (answers,) = rescore(path, [Setting(fewer, keep, tie)])
    assert answers.index.tolist() == [ballot.winner for ballot in ballots]


@pytest.mark.parametrize("tie", TIE_RULES)
def test_a_cascade_is_rescored_with_what_its_teacher_said(tmp_path, tie):
    rng = np.random.default_rng(20)
    student, teacher = (np.stack([draw_logits(rng, views=VIEWS, classes=8) for _ in range(80)]) for _ in range(2))
    path = recorded(tmp_path, student, teacher=teacher, keep=0.75)
    for keep in (0.2, 0.5, 0.75):
        (answers,) = rescore(path, [Setting(VIEWS, keep, tie)])
        ballots = ballots_of(student, keep=keep, tie=tie, teacher=teacher)
        assert answers.index.tolist() == [ballot.winner for ballot in ballots]
    with pytest.raises(UsageError, match="teacher was asked about fewer"):
        rescore(path, [Setting(VIEWS, 1.0, tie)])


def test_zero_shot_is_the_source_view_even_in_a_cascade(tmp_path):
    rng = np.random.default_rng(21)
    student, teacher = (np.stack([draw_logits(rng) for _ in range(20)]) for _ in range(2))
    answers = zero_shot_answers(read_columns(recorded(tmp_path, student, teacher=teacher, keep=1.0)))
    assert answers.index.tolist() == student[:, 0].argmax(axis=1).tolist()
    exps = np.exp(student[:, 0])
    assert answers.confidence == pytest.approx(exps.max(axis=1) / exps.sum(axis=1), rel=1e-5)


def test_unusable_images_have_no_answer_under_any_setting(tmp_path):
    rng = np.random.default_rng(22)
    rows = [failed_record(OSError("gone"), key="gone", target=0), voted_record(draw_logits(rng), key="here", target=1)]
    path = write_records(tmp_path / "records.jsonl", rows)
    (answers,) = rescore(path, [Setting(VIEWS)])
    assert answers.usable.tolist() == [False, True]
    assert answers.index[0] == -1
    assert np.isnan(answers.confidence[0])
    assert zero_shot_answers(read_columns(path)).index[0] == -1


def test_an_empty_file_and_one_of_errors_only_have_empty_answers(tmp_path):
    path = write_records(tmp_path / "records.jsonl", [])
    assert len(rescore(path, [Setting(4), Setting(8)])) == 2
    path = write_records(tmp_path / "records.jsonl", [failed_record(OSError("gone"), key="gone", target=0)])
    assert rescore(path, [Setting(4)])[0].index.tolist() == [-1]


def test_answers_do_not_depend_on_how_the_file_is_cut(tmp_path, monkeypatch):
    rng = np.random.default_rng(23)
    path = recorded(tmp_path, np.stack([draw_logits(rng) for _ in range(10)]))
    (whole,) = rescore(path, [Setting(VIEWS)])
    monkeypatch.setattr("viewvote.metrics.rescore.column_pieces", lambda p: column_pieces(p, size=3))
    (pieces,) = rescore(path, [Setting(VIEWS)])
    assert pieces.index.tolist() == whole.index.tolist()


def test_what_the_records_do_not_hold_is_an_error_that_says_so(tmp_path):
    rng = np.random.default_rng(24)
    path = recorded(tmp_path, np.stack([draw_logits(rng) for _ in range(30)]))
    with pytest.raises(UsageError, match="only 12"):
        rescore(path, [Setting(13)])
    for rule in GROUP_RULES:
        with pytest.raises(UsageError, match="recorded number of views only, not for 8"):
            rescore(path, [Setting(8, 0.5, rule)])
    bare = write_records(tmp_path / "bare.jsonl", [plain_record("a", target=0, index=0)])
    with pytest.raises(UsageError, match="without evidence"):
        zero_shot_answers(read_columns(bare))
    with pytest.raises(UsageError, match="cannot score 1 views"):
        rescore(bare, [Setting(1)])


@pytest.mark.parametrize("rule", ["max-logit", "group-marginal"])
def test_ties_need_evidence_where_their_rule_does(tmp_path, rule):
    logits = np.eye(2, dtype=np.float32) * 3  # two views, one vote each
    bare = replace(voted_record(logits, keep=1.0), candidates=(), logits="", group_marginal="", group_logits="")
    path = write_records(tmp_path / "records.jsonl", [bare])
    with pytest.raises(UsageError, match="without evidence"):
        rescore(path, [Setting(2, 1.0, rule)])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [({"views": 0}, "views"), ({"views": 4, "keep": 0.0}, "keep"), ({"views": 4, "tie": "greedi"}, "greedy")],
)
def test_settings_are_checked(wrong, message):
    with pytest.raises(UsageError, match=message):
        Setting(**wrong)


@pytest.mark.parametrize("tie", TIE_RULES)
@pytest.mark.parametrize("coarse", [False, True])
def test_the_anchored_vote_is_that_of_the_method_on_the_full_logits(tmp_path, tie, coarse):
    rng = np.random.default_rng(31)
    logits = np.stack([draw_logits(rng, views=VIEWS, classes=30, hard=3.0) for _ in range(60)])
    if coarse:  # whole numbers: equal scores happen
        logits = rng.integers(0, 3, size=(60, VIEWS, 6)).astype(np.float32)
    path = recorded(tmp_path, logits)
    views = (VIEWS,) if tie in GROUP_RULES else (1, 5, VIEWS)
    asked = [Setting(n, keep, tie, weight) for n in views for keep in (0.3, 1.0) for weight in (0.0, 0.5, 1.0, 30.0)]
    ties = 0
    for setting, answers in zip(asked, rescore(path, asked), strict=True):
        method = Anchored(keep=setting.keep, tie=tie, weight=setting.weight)
        rows = zip(logits[:, : setting.views], DRAWS, strict=False)
        decisions = [method.decide(ViewLogits(one, tie_draw=draw)) for one, draw in rows]
        assert answers.index.tolist() == [decision.index for decision in decisions], setting
        assert answers.confidence == pytest.approx([decision.confidence for decision in decisions], abs=1e-6)
        assert answers.tied.tolist() == [decision.tie_break is not None for decision in decisions]
        ties += int(answers.tied.sum())
    assert ties > 10


def test_without_weight_the_anchored_vote_is_the_vote(tmp_path):
    rng = np.random.default_rng(32)
    path = recorded(tmp_path, np.stack([draw_logits(rng, views=VIEWS, classes=8) for _ in range(80)]))
    plain, anchored = rescore(path, [Setting(VIEWS), Setting(VIEWS, weight=0.0)])
    assert anchored.index.tolist() == plain.index.tolist()
    assert anchored.confidence.tolist() == plain.confidence.tolist()
    assert anchored.tied.tolist() == plain.tied.tolist()


def test_an_anchored_cascade_and_records_without_evidence_are_errors(tmp_path):
    rng = np.random.default_rng(33)
    student, teacher = (np.stack([draw_logits(rng, views=VIEWS, classes=8) for _ in range(5)]) for _ in range(2))
    path = recorded(tmp_path, student, teacher=teacher)
    with pytest.raises(UsageError, match="teacher's probabilities of the source view"):
        rescore(path, [Setting(VIEWS, weight=1.0)])
    bare = replace(voted_record(student[0]), candidates=(), logits="")
    with pytest.raises(UsageError, match="recorded without evidence"):
        rescore(write_records(tmp_path / "bare.jsonl", [bare]), [Setting(VIEWS, weight=1.0)])


@pytest.mark.parametrize("weight", [-1.0, float("nan"), float("inf")])
def test_a_weight_below_0_or_without_end_is_an_error(weight):
    with pytest.raises(UsageError, match="weight must be a number"):
        Setting(VIEWS, weight=weight)
