"""Pairs of views by hand."""

import numpy as np
import pytest

from viewvote.studies.independence import effective_voters, error_correlation, overlaps, pair_counts

BOXES = np.array([[0, 0, 2, 2], [0, 0, 2, 1], [1, 0, 3, 2], [5, 5, 6, 6]], dtype=float)


def test_intersection_over_union_by_hand():
    found = overlaps(BOXES)
    assert np.diag(found) == pytest.approx([1, 1, 1, 1])
    assert found[0, 1] == pytest.approx(2 / 4)
    assert found[0, 2] == pytest.approx(2 / 6)
    assert found[1, 2] == pytest.approx(1 / 5)
    assert found[3, :3].tolist() == [0, 0, 0]


def test_pairs_are_counted_in_their_bin_of_overlap():
    found = pair_counts(np.array([7, 7, 3, 3]), 7, BOXES, bins=2)  # views 2 and 3 are wrong
    assert found.pairs.tolist() == [5, 1]
    assert found.agree.tolist() == [1, 1]  # 2 with 3; 0 with 1
    assert found.both_wrong.tolist() == [1, 0]
    assert found.one_wrong.tolist() == [4, 0]
    assert found.overlap == pytest.approx([2 / 6 + 1 / 5, 1 / 2])


def test_error_correlation_is_pearsons_over_both_orders():
    rng = np.random.default_rng(0)
    first = rng.random(200) < 0.4
    second = np.where(rng.random(200) < 0.5, first, rng.random(200) < 0.4)
    both, one = float((first & second).sum()), float((first ^ second).sum())
    expected = np.corrcoef(np.concatenate([first, second]), np.concatenate([second, first]))[0, 1]
    found = error_correlation(np.array([200.0, 3.0, 0.0]), np.array([both, 0.0, 0.0]), np.array([one, 0.0, 0.0]))
    assert found[0] == pytest.approx(expected)
    assert np.isnan(found[1:]).all()  # nobody is wrong; no pairs


def test_correlated_voters_count_for_fewer():
    assert effective_voters(19, 0.0) == 19
    assert effective_voters(19, 1.0) == pytest.approx(1)
    assert effective_voters(3, 0.5) == pytest.approx(1.5)
