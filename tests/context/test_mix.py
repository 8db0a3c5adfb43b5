"""Effective numbers of labels by hand and by simulation."""

import numpy as np
import pytest

from viewvote.context.mix import effective_labels, expected_labels


def test_equal_shares_count_fully_and_absent_labels_do_not():
    assert effective_labels(np.array([2.0, 2.0, 0.0, 2.0])) == pytest.approx(3)
    assert effective_labels(np.array([5.0, 0.0])) == pytest.approx(1)
    assert effective_labels(np.array([0.5, 0.25, 0.25])) == pytest.approx(2**1.5)


def test_two_photos_of_two_labels_differ_half_of_the_time():
    assert expected_labels(2, 2) == pytest.approx(2**0.5)  # the expected entropy is log(2) / 2


@pytest.mark.parametrize(("n", "n_classes"), [(10, 7), (100, 10), (40, 100)])
def test_the_expectation_is_that_of_many_draws(n, n_classes):
    rng = np.random.default_rng(0)
    drawn = rng.multinomial(n, np.full(n_classes, 1 / n_classes), size=4000) / n
    entropy = -(drawn * np.log(np.maximum(drawn, 1e-300))).sum(axis=1)
    assert expected_labels(n, n_classes) == pytest.approx(np.exp(entropy.mean()), rel=0.01)


def test_one_photo_or_one_label_shows_one():
    assert expected_labels(1, 9) == expected_labels(9, 1) == 1


def test_very_many_photos_show_all_labels():
    assert expected_labels(10_000, 37) == pytest.approx(37, rel=0.01)
