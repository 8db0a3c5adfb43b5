"""Invariance by hand."""

import numpy as np
import pytest

from viewvote.studies.invariance import by_entropy, step_of


def test_a_step_keeps_or_moves_the_argmax():
    kept = step_of(np.array([0.5, 0.5, 0.0]), np.array([0.9, 0.1, 0.0]))
    assert (kept.same, kept.rose, kept.entropy) == (True, True, pytest.approx(np.log(2)))
    moved = step_of(np.array([0.6, 0.4]), np.array([0.3, 0.7]))
    assert (moved.same, moved.rose) == (False, False)
    fell = step_of(np.array([0.6, 0.4]), np.array([0.55, 0.45]))
    assert (fell.same, fell.rose) == (True, False)


def test_bins_go_from_most_to_least_entropy_and_hold_every_image_once():
    entropy = np.array([0.1, 0.9, 0.5, 0.7, 0.3])
    same = np.array([True, False, True, False, True])
    parts = by_entropy(entropy, same, bins=2)
    assert [part.tolist() for part in parts] == [[False, False, True], [True, True]]
