"""Pulls against values computed by hand and naive oracles: which labels attract photos whatever they show."""

import numpy as np
import pytest

from viewvote.context import pull as pulls
from viewvote.context.pull import COMMON, leak_pull, level_pull, mean_pull, others_pull, transport_pull


def logits_of(probabilities):
    return np.log(np.array(probabilities, dtype=np.float64))


def folder(counts, *, bias, sure=2.0, noise=1.0, seed=0):
    """Photos of each label with logits that favour it, noise, and a bias of the model's own."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(len(counts)), counts)
    return rng.normal(0, noise, (len(labels), len(counts))) + sure * np.eye(len(counts))[labels] + np.array(bias)


def test_the_mean_pull_is_the_mean_logit_less_what_labels_have_in_common():
    assert mean_pull(np.array([[3.0, 1.0, 0.0], [1.0, 1.0, 0.0]])) == pytest.approx([1.0, 0.0, -1.0])


def test_others_weigh_a_photo_by_how_unlikely_it_shows_the_label():
    logits = logits_of([[0.8, 0.2], [0.4, 0.6]])
    first = (0.2 * np.log(0.8) + 0.6 * np.log(0.4)) / 0.8
    second = (0.8 * np.log(0.2) + 0.4 * np.log(0.6)) / 1.2
    assert others_pull(logits) == pytest.approx([(first - second) / 2, (second - first) / 2])


def test_levels_of_two_labels_as_computed_by_hand():
    # The first photo's logits are half of log(4) above and below their mean, the second's are equal.
    pull = level_pull(logits_of([[0.8, 0.2], [0.5, 0.5]]))
    x = np.log(4) / 2
    with_first, without_first = 0.8 * x / (0.8 + 0.5), 0.2 * x / (0.2 + 0.5)
    assert pull == pytest.approx([(with_first + without_first) / 2, -(with_first + without_first) / 2])


def test_levels_are_those_of_a_naive_loop_and_rare_labels_take_part_of_what_is_common():
    logits = folder([12, 5, 1, 0], bias=[1, 0, 0, -1])
    probabilities = pulls.softmax(logits)
    rows = logits - logits.mean(axis=1, keepdims=True)
    lows, lifts, shown = [], [], []
    for label in range(4):
        high = low = many = few = 0.0
        for p, row in zip(probabilities[:, label], rows[:, label], strict=True):
            high, many = high + p * row, many + p
            low, few = low + (1 - p) * row, few + 1 - p
        lows.append(low / few)
        lifts.append(high / many - low / few)
        shown.append(many)
    common = sum(n * lift for n, lift in zip(shown, lifts, strict=True)) / 18
    drawn = [
        low + 0.5 * (n * lift + COMMON * common) / (n + COMMON) for low, lift, n in zip(lows, lifts, shown, strict=True)
    ]
    assert level_pull(logits) == pytest.approx(np.array(drawn) - np.mean(drawn))


def test_levels_find_the_label_that_attracts_and_not_the_one_that_fills_the_folder():
    assert level_pull(folder([40] * 4, bias=[1.0, 0, 0, 0])).argmax() == 0
    many = folder([150, 20, 20, 20], bias=[0, 0, 0, 0], sure=4.0)
    assert np.abs(level_pull(many)).max() < 0.3 * np.abs(mean_pull(many)).max()


@pytest.mark.parametrize("shares", [[0.5, 0.3, 0.2], [5, 3, 2]])
def test_transport_makes_the_mean_probabilities_the_shares_that_were_given(shares):
    logits = folder([10, 10, 30], bias=[1, 0, 0])
    moved = pulls.softmax(logits - transport_pull(logits, np.array(shares, dtype=np.float64)))
    assert moved.mean(axis=0) == pytest.approx([0.5, 0.3, 0.2], abs=1e-4)


def test_leaks_of_two_labels_as_computed_by_hand(monkeypatch):
    monkeypatch.setattr(pulls, "RESTART", 1e-12)
    # Two photos are best as label 0 and give 0.1 and 0.3 to label 1; one is best as label 1 and gives 0.4 to label 0.
    logits = logits_of([[0.9, 0.1], [0.7, 0.3], [0.4, 0.6]])
    half = np.log(0.4 / 0.2) / 2  # label 0 gets 0.4 where it gives 0.2
    assert leak_pull(logits) == pytest.approx([half, -half], abs=1e-4)


def test_the_stationary_point_is_that_of_a_walk_step_by_step():
    logits = folder([20, 15, 10, 0], bias=[1, 0, 0, -4])
    probabilities = pulls.softmax(logits)
    best = probabilities.argmax(axis=1)
    assert set(best) == {0, 1, 2}
    steps = np.eye(4)  # a label without a photo keeps all
    for label in (0, 1, 2):
        steps[:, label] = probabilities[best == label].mean(axis=0)
    walk = np.full(4, 1 / 4)
    for _ in range(3000):
        walk = 0.99 * steps @ walk + 0.01 / 4
    assert leak_pull(logits) == pytest.approx(np.log(walk) - np.log(walk).mean(), abs=1e-6)


def test_leaks_find_the_label_that_attracts():
    pull = leak_pull(folder([40, 40, 40, 40], bias=[1.0, 0, 0, 0]))
    assert pull.argmax() == 0
    assert pull[0] - pull[1:].max() > 0.3


def test_leaks_hardly_depend_on_the_mix_where_means_do():
    many = folder([150, 20, 20, 20], bias=[0, 0, 0, 0], sure=4.0)
    assert np.abs(leak_pull(many)).max() < 0.5
    assert np.abs(mean_pull(many)).max() > 1


def test_of_very_many_labels_only_the_most_probable_have_a_pull(monkeypatch):
    logits = folder([30, 30, 1, 30], bias=[1, 0, -4, 0])
    monkeypatch.setattr(pulls, "MOST_LABELS", 3)
    pull = leak_pull(logits)
    assert pull[2] == 0
    assert pull[[0, 1, 3]] == pytest.approx(leak_pull(logits[:, [0, 1, 3]]))


@pytest.mark.parametrize("pull_of", [mean_pull, others_pull, leak_pull, level_pull])
def test_pulls_are_finite_and_have_no_mean_for_logits_of_any_size(pull_of):
    pull = pull_of(np.array([[900.0, -900.0, 0.0]] * 9 + [[-900.0, 900.0, 0.0]]))
    assert np.isfinite(pull).all()
    assert pull.sum() == pytest.approx(0, abs=1e-6)
