"""The vote on hand-made cases: entropy, ranking, what is kept, and counts."""

import math

import numpy as np
import pytest

from viewvote import vote as v
from viewvote.errors import NonFiniteError, UsageError


def naive_entropy(row):
    top = max(row)
    total = sum(math.exp(x - top) for x in row)
    return -sum(math.exp(x - top) / total * (x - top - math.log(total)) for x in row)


def test_entropy_by_hand():
    # two equal classes: ln 2; one certain class: 0; three equal: ln 3
    logits = np.array([[0, 0, -1e4], [300, 0, 0], [5, 5, 5]], dtype=np.float32)
    np.testing.assert_allclose(v.entropy_of(v.log_softmax(logits)), [math.log(2), 0, math.log(3)], atol=1e-6)


def test_entropy_agrees_with_the_definition_in_double_precision():
    rows = np.random.default_rng(0).normal(0, 20, (200, 30)).astype(np.float32)
    np.testing.assert_allclose(v.entropy_of(v.log_softmax(rows)), [naive_entropy(r) for r in rows.tolist()], atol=2e-5)


@pytest.mark.parametrize(
    ("n", "keep", "k"),
    [(64, 0.3, 19), (64, 0.1, 6), (3, 0.3, 1), (1, 0.01, 1), (10, 1.0, 10), (64, 1, 64), (7, 0.5, 3)],
)
def test_the_kept_count_is_truncated_but_at_least_one(n, keep, k):
    assert v.count_kept(n, keep) == k


@pytest.mark.parametrize("keep", [0, -0.1, 1.0001, float("nan"), float("inf")])
def test_keep_outside_its_range_is_an_error(keep):
    with pytest.raises(UsageError, match="keep must be above 0"):
        v.vote(np.zeros((4, 2)), keep=keep)


def test_ranking_is_stable_for_equal_entropies():
    assert v.rank_by_confidence(np.array([2, 1, 2, 1, 0], dtype=np.float32)).tolist() == [4, 1, 3, 0, 2]


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf"), 1e39])
def test_a_non_finite_logit_names_its_view(bad):
    logits = np.zeros((5, 3))
    logits[3, 1] = bad
    with pytest.raises(NonFiniteError, match="view 3 has a non-finite logit"):
        v.vote(logits)
    with pytest.raises(NonFiniteError, match="view 3 of image 1"):
        v.vote(np.stack([np.zeros((5, 3)), logits]))


@pytest.mark.parametrize("shape", [(3,), (0, 3), (3, 0), (2, 0, 3), (1, 2, 3, 4)])
def test_logits_of_another_shape_are_an_error(shape):
    with pytest.raises(UsageError, match="logits must be"):
        v.vote(np.zeros(shape))


def test_no_image_at_all_is_an_empty_ballot():
    assert len(v.vote(np.zeros((0, 4, 3)))) == 0


def test_votes_are_integer_counts_of_the_kept_views():
    # entropies ascend with the view index: margins 8, 7, 6, 5, 4
    logits = np.array([[8, 0, 0], [0, 7, 0], [6, 0, 0], [0, 5, 0], [0, 4, 0]], dtype=np.float32)
    ballot = v.vote(logits, keep=0.6)
    assert ballot.k == 3
    assert ballot.votes.dtype == np.int64
    assert ballot.votes.tolist() == [2, 1, 0]
    assert ballot.kept.tolist() == [True, True, True, False, False]
    assert int(ballot.winner) == 0
    assert ballot.tie_break is None
    assert float(ballot.share) == pytest.approx(2 / 3)
    assert bool(ballot.source_agrees)


def test_the_source_view_may_disagree_with_the_winner():
    logits = np.array([[1, 0], [0, 9], [0, 8]], dtype=np.float32)
    ballot = v.vote(logits, keep=0.7)
    assert int(ballot.winner) == 1
    assert not bool(ballot.source_agrees)


def test_the_marginal_is_the_mean_probability_of_the_kept_views():
    logits = np.log(np.array([[0.9, 0.1], [0.8, 0.2], [0.5, 0.5]], dtype=np.float32))
    ballot = v.vote(logits, keep=0.7)  # keeps views 0 and 1
    np.testing.assert_allclose(ballot.marginal, [0.85, 0.15], atol=1e-6)
    np.testing.assert_allclose(v.marginal(logits), [2.2 / 3, 0.8 / 3], atol=1e-6)
    np.testing.assert_allclose(v.marginal(logits, np.array([2])), [0.5, 0.5], atol=1e-6)


def test_top_probability_is_the_largest_probability_of_each_view():
    logits = np.log(np.array([[0.7, 0.3], [0.4, 0.6]], dtype=np.float32))
    np.testing.assert_allclose(v.vote(logits, keep=1).top_probability, [0.7, 0.6], atol=1e-6)
