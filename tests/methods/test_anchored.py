"""The anchored vote: between ZERO and zero-shot, by hand and against an oracle; its weight from the labels."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from viewvote.errors import UnknownNameError, UsageError
from viewvote.methods import METHODS, ViewLogits, method_entry
from viewvote.methods.anchored import MOST, Anchored, weight_for
from viewvote.methods.zero import Zero
from viewvote.vote import TIE_RULES

KEEPS = (0.1, 0.3, 0.5, 1.0)


def softmax(row):
    odds = np.exp(row.astype(np.float64) - row.max())
    return odds / odds.sum()


def anchored_scores(logits, keep, weight):
    """Shares of votes + weight * p(source), in ten lines."""
    probabilities = [softmax(row) for row in logits]
    entropy = [float(-(p * np.log(np.maximum(p, 1e-300))).sum()) for p in probabilities]
    kept = sorted(range(len(logits)), key=lambda i: entropy[i])[: max(1, int(len(logits) * keep))]
    scores = weight * probabilities[0]
    for i in kept:
        scores[np.argmax(logits[i])] += 1 / len(kept)
    return scores


@st.composite
def images(draw, *, coarse=False):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shape = draw(st.integers(1, 24)), draw(st.integers(1, 6))
    values = rng.integers(-2, 3, shape) if coarse else rng.normal(0, 2, shape)
    return values.astype(np.float32)


@settings(max_examples=300, deadline=None)
@given(logits=images() | images(coarse=True), keep=st.sampled_from(KEEPS), tie=st.sampled_from(TIE_RULES))
def test_without_weight_it_is_zero_to_the_last_bit(logits, keep, tie):
    views = ViewLogits(logits, tie_draw=0.4)
    found, expected = Anchored(keep=keep, tie=tie, weight=0).decide(views), Zero(keep=keep, tie=tie).decide(views)
    assert (found.index, found.tie_break, found.confidence) == (expected.index, expected.tie_break, expected.confidence)
    assert found.votes.tobytes() == expected.votes.tobytes()
    assert found.scores.tobytes() == expected.scores.tobytes()
    assert found.views == expected.views


@settings(max_examples=300, deadline=None)
@given(logits=images(), keep=st.sampled_from(KEEPS))
def test_with_all_the_weight_it_is_zero_shot(logits, keep):
    decision = Anchored(keep=keep, weight=1e12).decide(ViewLogits(logits))
    assert decision.index == logits[0].argmax()
    assert decision.scores == pytest.approx(softmax(logits[0]), abs=1e-6)


@settings(max_examples=300, deadline=None)
@given(logits=images(), keep=st.sampled_from(KEEPS), weight=st.floats(0.05, 20))
def test_any_weight_agrees_with_the_sum_of_shares_and_probabilities(logits, keep, weight):
    expected = anchored_scores(logits, keep, weight)
    decision = Anchored(keep=keep, weight=weight).decide(ViewLogits(logits))
    assert expected[decision.index] == pytest.approx(expected.max(), abs=1e-9)
    assert decision.scores == pytest.approx(expected / (1 + weight), abs=1e-6)
    assert decision.scores.sum() == pytest.approx(1, abs=1e-5)
    assert decision.confidence == decision.scores[decision.index] == decision.scores.max()


def test_the_source_view_outvotes_the_crops_by_hand():
    # the source view gives class 0 0.8 and is not kept; two sure views vote for 1: 1 + 0.2 w against 0.8 w
    logits = np.array([[np.log(4), 0], [0, 9], [0, 9], [0.1, 0]], dtype=np.float32)
    views = ViewLogits(logits)
    assert Anchored(keep=0.5, weight=1.6).decide(views).index == 1
    decision = Anchored(keep=0.5, weight=1.7).decide(views)
    assert decision.index == 0
    assert decision.votes.tolist() == [0, 2]
    assert decision.scores == pytest.approx([1.36 / 2.7, 1.34 / 2.7])


def test_a_tie_of_votes_that_the_source_view_decides_is_no_tie():
    logits = np.array([[0.5, 0], [9, 0], [0, 9], [0, 1]], dtype=np.float32)
    assert Zero(keep=0.5).decide(ViewLogits(logits)).tie_break == "greedy"
    decision = Anchored(keep=0.5, weight=1).decide(ViewLogits(logits))
    assert (decision.index, decision.tie_break) == (0, None)


def test_a_tie_that_the_source_view_leaves_falls_by_zeros_rules():
    logits = np.array([[0, 0], [9, 0], [0, 9], [0, 1]], dtype=np.float32)
    decision = Anchored(keep=0.5, weight=1).decide(ViewLogits(logits))
    assert (decision.index, decision.tie_break) == (1, "greedy")


def test_the_weight_follows_from_the_likeness_of_the_labels():
    assert weight_for(0) == 1
    assert weight_for(0.5) == 32
    assert weight_for(0.9) == weight_for(1) == MOST
    logits = np.array([[1, 0], [0, 9], [0, 9]], dtype=np.float32)
    for likeness, index in ((0.0, 1), (0.5, 0)):
        decision = Anchored(keep=0.5).decide(ViewLogits(logits, likeness=likeness))
        assert decision.index == index
        assert decision.anchor.to_dict() == {"weight": weight_for(likeness), "likeness": likeness}


def test_a_weight_that_is_given_stands_whatever_the_labels_are():
    decision = Anchored(weight=2).decide(ViewLogits(np.eye(3, dtype=np.float32), likeness=0.5))
    assert decision.anchor.to_dict() == {"weight": 2.0}
    assert Anchored().asks_likeness
    assert not Anchored(weight=2).asks_likeness


def test_in_a_cascade_the_teachers_source_view_has_the_say():
    student = np.array([[9, 0], [8, 0], [0, 0.1]], dtype=np.float32)  # keeps views 0 and 1 of 3
    teacher = np.array([[0, 3], [1, 0], [7, 0]], dtype=np.float32)
    asked = []

    def ask(views):
        asked.extend(views.tolist())
        return teacher[views]

    decision = Anchored(keep=0.7, weight=1).decide(ViewLogits(student, teacher=ask))
    assert decision.votes.tolist() == [1, 1]
    assert (decision.index, decision.tie_break) == (1, None)
    assert set(asked) == {0, 1}
    expected = np.array([0.5, 0.5]) / 2 + softmax(teacher[0]) / 2
    assert decision.scores == pytest.approx(expected)


@pytest.mark.parametrize("weight", [-1, float("nan"), float("inf"), "2", True])
def test_a_weight_that_is_none_is_an_error(weight):
    with pytest.raises(UsageError, match="weight is a number of at least 0"):
        Anchored(weight=weight)


def test_its_other_settings_are_checked_too():
    with pytest.raises(UsageError, match="keep"):
        Anchored(keep=0)
    with pytest.raises(UnknownNameError, match="Did you mean 'greedy'"):
        Anchored(tie="greedi")


def test_it_is_registered():
    assert METHODS.get("anchored") is Anchored
    assert method_entry("anchored").keep == Anchored().keep
