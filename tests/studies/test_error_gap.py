"""Spearman's coefficient by hand, and of the paper's own table."""

import numpy as np
import pytest

from viewvote.report.paper import paper_rows
from viewvote.studies.error_gap import ranks, spearman, spearman_interval


def test_equal_values_share_their_mean_rank():
    assert ranks([10, 30, 20, 20]).tolist() == [1.0, 4.0, 2.5, 2.5]


def test_the_coefficient_by_hand():
    assert spearman([1, 2, 3, 4], [2, 1, 4, 3]) == pytest.approx(1 - 6 * 4 / (4 * 15))  # squared differences sum to 4
    assert spearman([1, 2, 3], [9, 5, 1]) == pytest.approx(-1)
    assert np.isnan(spearman([1, 1], [1, 2]))
    assert np.isnan(spearman([1], [1]))


def test_the_papers_printed_table_gives_minus_0_90_where_its_text_has_minus_0_95():
    (augmented,) = paper_rows(table="error_gap")
    source = next(r for r in paper_rows(table="fc") if (r.model, r.row) == ("CLIP-ViT-B-16", "Zero-Shot")).values
    zero = next(r for r in paper_rows(table="fc-inherited") if (r.model, r.row) == ("CLIP-ViT-B-16", "Zero")).values
    sets = list(augmented.values)
    gap = [round(source[name] - augmented.values[name], 2) for name in sets]
    gain = [round(zero[name] - source[name], 2) for name in sets]
    assert (len(sets), gap[0], gain[0]) == (9, 1.25, -0.37)
    assert spearman(gap, gain) == pytest.approx(-0.9)  # ranks differ by 5, 7, 5, 3, 0, 2, 4, 6, 8


def test_the_interval_is_fishers_with_bonetts_variance():
    half = 1.959963984540054 * ((1 + 0.9**2 / 2) / 6) ** 0.5
    centre = np.arctanh(-0.9)
    assert spearman_interval(-0.9, 9) == pytest.approx((np.tanh(centre - half), np.tanh(centre + half)))
    assert np.isnan(spearman_interval(0.5, 3)).all()
