"""Effective numbers of labels by hand and by simulation."""

import numpy as np
import pytest

from tests.context.test_pull import folder, logits_of
from viewvote.context.mix import effective_labels, expected_labels, variety


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


@pytest.mark.parametrize("sure", [0.8, 0.999999])
def test_two_photos_that_differ_are_twice_as_varied_as_two_of_chance_however_sure_each_is(sure):
    apart = logits_of([[sure, 1 - sure], [1 - sure, sure]])
    assert variety(apart) == pytest.approx(2, abs=1e-3)  # two photos of chance tell log(2) / 2 apart
    assert variety(apart[[0, 0]]) == pytest.approx(0, abs=1e-6)


def test_the_unsureness_of_each_photo_is_not_told_apart():
    """By hand: mean entropies, and what 4 photos of 3 labels tell apart."""
    logits = logits_of([[0.7, 0.2, 0.1], [0.2, 0.7, 0.1], [0.1, 0.2, 0.7], [0.7, 0.2, 0.1]])
    each = -(0.7 * np.log(0.7) + 0.2 * np.log(0.2) + 0.1 * np.log(0.1))
    mean = np.array([1.7, 1.3, 1.0]) / 4
    told = -(mean * np.log(mean)).sum() - each
    assert variety(logits) == pytest.approx(told / ((1 - each / np.log(3)) * np.log(expected_labels(4, 3))))


@pytest.mark.parametrize("sure", [1.5, 3.0, 8.0])
def test_two_labels_are_less_varied_than_a_mix_of_seven_also_to_an_unsure_model(sure):
    mixed = variety(folder([20] * 7, bias=[1.0, 0, 0, 0, 0, 0, 0], sure=sure))
    two = variety(folder([70, 70, 0, 0, 0, 0, 0], bias=[1.0, 0, 0, 0, 0, 0, 0], sure=sure))
    assert two < 0.75 * mixed


def test_one_photo_one_label_and_photos_without_any_answer_are_not_varied():
    assert variety(np.ones((1, 5))) == variety(np.ones((5, 1))) == variety(np.ones((6, 5))) == 0
