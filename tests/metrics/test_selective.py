"""Risk and coverage: by hand, and against every order of equally confident images."""

from itertools import permutations

import numpy as np
import pytest

from viewvote.metrics.selective import risk_coverage


def test_the_curve_by_hand():
    curve = risk_coverage([0.9, 0.2, 0.6, 0.4], [True, False, False, True])
    assert curve.coverage.tolist() == [0.25, 0.5, 0.75, 1.0]
    assert curve.risk.tolist() == pytest.approx([0, 1 / 2, 1 / 3, 2 / 4])
    assert curve.aurc == pytest.approx((0 + 1 / 2 + 1 / 3 + 1 / 2) / 4)


def test_equal_confidences_are_averaged_over_all_orders():
    sure = np.array([0.9, 0.5, 0.5, 0.5, 0.1, 0.1])
    right = np.array([1, 1, 0, 0, 0, 1])

    def naive(order):
        wrong = 1 - right[list(order)]
        return np.cumsum(wrong) / np.arange(1, 7)

    orders = [o for o in permutations(range(6)) if (np.diff(sure[list(o)]) <= 0).all()]
    assert len(orders) == 12
    assert risk_coverage(sure, right).risk == pytest.approx(np.mean([naive(o) for o in orders], axis=0))


def test_no_errors_no_area_and_no_images_no_curve():
    assert risk_coverage([0.3, 0.3, 0.8], [1, 1, 1]).aurc == 0.0
    assert np.isnan(risk_coverage([], []).aurc)


def test_the_last_risk_is_the_error_rate():
    rng = np.random.default_rng(0)
    right = rng.random(200) < 0.7
    assert risk_coverage(rng.integers(0, 5, 200) / 5, right).risk[-1] == pytest.approx(1 - right.mean())
