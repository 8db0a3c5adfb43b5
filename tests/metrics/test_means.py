"""Means of numbers per image."""

import numpy as np
import pytest

from viewvote.metrics.means import Mean, mean_of, pooled_means, share_of


def test_the_interval_by_hand():
    found = mean_of([1.0, 3.0])
    assert (found.value, found.n) == (2.0, 2)
    assert found.high - found.value == pytest.approx(1.959963984540054 * 2**0.5 / 2**0.5)
    assert found.value - found.low == pytest.approx(found.high - found.value)


def test_a_single_image_has_no_interval_and_none_no_mean():
    assert np.isnan(mean_of([1.0]).low)
    assert np.isnan(mean_of([]).value)


def test_the_interval_of_shares_ends_at_none_and_all():
    found = share_of([1.0, 1.0, 0.5])
    assert (found.value, found.high) == (pytest.approx(5 / 6), 1.0)
    assert found.low == mean_of([1.0, 1.0, 0.5]).low
    assert np.isnan(share_of([1.0]).low)


def test_seeds_are_no_more_images_so_the_ends_are_averaged():
    assert pooled_means([Mean(0.2, 0.1, 0.3, 9), Mean(0.4, 0.2, 0.6, 8)]) == Mean(
        pytest.approx(0.3), pytest.approx(0.15), pytest.approx(0.45), 8
    )
