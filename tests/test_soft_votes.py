"""The authors' soft votes in place of exact ones."""

import math

import numpy as np
import pytest

from viewvote import vote as v
from viewvote.errors import UnknownNameError


@pytest.mark.parametrize(("gap", "share"), [(0.001, 0.74), (0.002, 0.89), (0.005, 0.994)])
def test_fp16_eps_gives_the_published_fractions_of_a_vote(gap, share):
    """zero-spec D2: a cosine lead of 0.001 earns 0.74 of a vote; 0.125 keeps the fp16 rounding below the gap."""
    votes = v.soft_tally(np.array([[0.125 + gap, 0.125]], dtype=np.float32), "eps-fp16")
    assert votes[0] == pytest.approx(share, abs=0.02)


def test_bf16_eps_is_about_the_models_own_temperature():
    votes = v.soft_tally(np.array([[0.265625, 0.25]], dtype=np.float32), "eps-bf16")  # a gap of two bf16 eps
    assert votes[0] == pytest.approx(1 / (1 + math.exp(-2)), abs=1e-6)


def test_fp32_eps_is_one_hot():
    votes = v.soft_tally(np.array([[0.25, 0.2499], [0.1, 0.3]], dtype=np.float32), "eps-fp32")
    np.testing.assert_array_equal(votes, [1, 1])


def test_cosines_are_rounded_to_the_authors_precision():
    # fp16 has a spacing of 2^-12 at 0.25: a lead of 2^-14 disappears, and the two classes tie exactly
    votes = v.soft_tally(np.array([[0.25 + 2**-14, 0.25]], dtype=np.float32), "eps-fp16")
    assert votes.tolist() == [0.5, 0.5]


def test_soft_votes_come_from_the_scaled_logits():
    cosines = np.array([[0.25, 0.251], [0.3, 0.25], [0.2, 0.28]], dtype=np.float32)
    soft = v.vote(cosines * 100 - 7, keep=1, zero_temperature="eps-fp16", logit_scale=100, logit_bias=-7)
    np.testing.assert_allclose(soft.votes, v.soft_tally(cosines, "eps-fp16"), atol=0.05)
    assert soft.votes.dtype == np.float32
    assert soft.votes.sum() == pytest.approx(3, abs=1e-5)


def test_soft_votes_may_tie_for_a_class_that_no_view_prefers():
    # class 1 and 2 are twins everywhere and share the lead softly, but argmax names class 0 and 1 only
    cosines = np.array([[0.25, 0.2495, 0.2495], [0.25, 0.2505, 0.2505]], dtype=np.float32)
    ballot = v.vote(cosines, keep=1, zero_temperature="eps-bf16", tie="greedy")
    assert ballot.votes[1] == ballot.votes[2]
    twins = v.break_tie(np.array([2]), cosines, np.array([0, 1]), np.array([0, 1]), k=2, rule="group-logits")
    assert twins == (2, "mean-logits")


def test_an_unknown_temperature_is_an_error():
    with pytest.raises(UnknownNameError, match="eps-fp16"):
        v.vote(np.zeros((2, 2)), zero_temperature="eps-fp8")


@pytest.mark.parametrize(
    ("value", "rounded"),
    [(1.0, 1.0), (1 + 2**-8, 1.0), (1 + 3 * 2**-8, 1 + 2**-6), (1 + 2**-8 + 2**-20, 1 + 2**-7), (-0.3, -0.30078125)],
)
def test_bf16_rounds_to_nearest_even(value, rounded):
    assert v.round_to_bf16(np.array([value], dtype=np.float32))[0] == rounded
