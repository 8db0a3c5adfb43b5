"""Shares of images and their intervals."""

import numpy as np
import pytest

from viewvote.rates import wilson_interval


def test_wilson_intervals_are_the_textbook_ones():
    assert wilson_interval(81, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)  # Newcombe (1998), method 3
    assert wilson_interval(15, 148) == pytest.approx((0.0624, 0.1605), abs=5e-5)
    assert wilson_interval(0, 20) == pytest.approx((0.0, 0.1611), abs=5e-5)
    assert wilson_interval(1, 29) == pytest.approx((0.0061, 0.1718), abs=5e-5)


def test_the_interval_solves_the_score_equation():
    low, high = wilson_interval(7, 30)
    for bound in (low, high):
        assert abs(7 / 30 - bound) / np.sqrt(bound * (1 - bound) / 30) == pytest.approx(1.959963984540054)


def test_intervals_hold_their_rate_and_stay_within_0_and_1():
    for n in (1, 2, 7, 1000):
        for successes in range(0, n + 1, max(1, n // 7)):
            low, high = wilson_interval(successes, n)
            assert 0 <= low <= successes / n <= high <= 1
    assert np.isnan(wilson_interval(0, 0)).all()
