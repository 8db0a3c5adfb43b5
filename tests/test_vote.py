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
    logits[1, 2] = bad
    with pytest.raises(NonFiniteError, match=r"view 1 has a non-finite logit \(2 such views\)"):
        v.RankedViews(logits)


@pytest.mark.parametrize("shape", [(3,), (0, 3), (3, 0), (2, 4, 3)])
def test_logits_of_another_shape_are_an_error(shape):
    with pytest.raises(UsageError, match="logits must be"):
        v.vote(np.zeros(shape))


def test_votes_are_integer_counts_of_the_kept_views():
    # entropies ascend with the view index: margins 8, 7, 6, 5, 4
    logits = np.array([[8, 0, 0], [0, 7, 0], [6, 0, 0], [0, 5, 0], [0, 4, 0]], dtype=np.float32)
    ballot = v.vote(logits, keep=0.6)
    assert ballot.k == 3
    assert ballot.votes.dtype == np.int64
    assert ballot.votes.tolist() == [2, 1, 0]
    assert ballot.views.kept.tolist() == [True, True, True, False, False]
    assert ballot.winner == 0
    assert ballot.tie_break is None
    assert ballot.share == pytest.approx(2 / 3)


def test_top_probability_is_the_largest_probability_of_each_view():
    logits = np.log(np.array([[0.7, 0.3], [0.4, 0.6]], dtype=np.float32))
    np.testing.assert_allclose(v.vote(logits, keep=1).views.top_probability, [0.7, 0.6], atol=1e-6)


def test_what_is_read_of_the_views_is_computed_once():
    views = v.RankedViews(np.array([[1, 0], [0, 9], [0, 8]]))
    assert views.logits.dtype == np.float32
    assert views.labels.tolist() == [0, 1, 1]
    assert views.order.tolist() == [1, 2, 0]
    assert views.most_confident(0.7).tolist() == [1, 2]
    assert views.kept(0.4).tolist() == [False, True, False]
    ballot = v.vote(views, keep=0.7)
    assert ballot.order is views.order
    assert ballot.views.entropy is views.entropy


def test_a_table_takes_its_kept_views_as_indices_or_as_a_mask():
    views = v.RankedViews(np.eye(3))
    by_index, by_mask = views.table(np.array([2, 0])), views.table(np.array([True, False, True]))
    assert by_index == by_mask
    assert by_index.kept.tolist() == [True, False, True]
