"""The jury's maths by hand."""

import numpy as np
import pytest

from viewvote.studies.jury import class_errors, condorcet_curve, majority_error, wrong_votes


def test_the_binomial_terms_of_three_voters_by_hand():
    terms = [wrong_votes(0.2, 3, k) for k in range(4)]
    assert terms == pytest.approx([0.512, 0.384, 0.096, 0.008])


def test_a_majority_is_more_than_half_of_an_even_number():
    assert majority_error(0.2, 3) == pytest.approx(0.104)
    assert majority_error(0.2, 4) == pytest.approx(4 * 0.008 * 0.8 + 0.0016)  # three or four of four


@pytest.mark.parametrize(("error", "expected"), [(0.0, 0.0), (1.0, 1.0)])
def test_certain_voters_make_a_certain_majority(error, expected):
    assert majority_error(error, 5) == expected


def test_condorcet_falls_below_one_half_rises_above_and_survives_many_voters():
    sizes = [1, 3, 5, 65, 2001]
    assert (np.diff(condorcet_curve(0.4, sizes)) < 0).all()
    assert (np.diff(condorcet_curve(0.6, sizes)) > 0).all()
    assert condorcet_curve(0.5, sizes) == pytest.approx([0.5] * 5)


def test_p_bar_of_a_class_is_right_where_most_of_its_images_are_not():
    rows = [[0.9, 0.1, 0.0], [0.4, 0.6, 0.0], [0.4, 0.6, 0.0], [0.1, 0.2, 0.7], [0.5, 0.3, 0.2]]
    found = class_errors(np.array(rows), [0, 0, 0, 2, 2])
    assert found.label.tolist() == [0, 2]
    assert found.images.tolist() == [3, 2]
    assert found.expected == pytest.approx([2 / 3, 1 / 2])  # two of three say class 1, one of two says class 0
    assert found.marginal.tolist() == [0.0, 0.0]  # sums 1.7 > 1.3, and 0.9 of class 2 > 0.6
    assert found.majority == pytest.approx([3 * (2 / 3) ** 2 / 3 + (2 / 3) ** 3, 0.25])
