"""Risks from two numbers per view equal those of the whole distributions."""

import numpy as np
import pytest

from viewvote.studies.risk import image_risks


def test_risks_of_two_views_by_hand():
    views = np.array([[1.0, 0.0], [0.0, 1.0]])  # one right, one wrong; p-bar is even
    found = image_risks(views.mean(axis=0), 0, view_target=views[:, 0], view_square=(views**2).sum(axis=1))
    assert found.marginal == pytest.approx({"squared": 0.5, "euclidean": 0.5**0.5, "absolute": 1.0})
    assert found.views == pytest.approx({"squared": 1.0, "euclidean": 2**0.5 / 2, "absolute": 1.0})


def test_p_bar_never_has_the_larger_risk_and_the_naive_norms_agree():
    rng = np.random.default_rng(0)
    for _ in range(50):
        views = rng.dirichlet(np.full(7, 0.3), 11)
        label = np.eye(7)[3]
        found = image_risks(views.mean(axis=0), 3, view_target=views[:, 3], view_square=(views**2).sum(axis=1))
        apart, mean = label - views, label - views.mean(axis=0)
        assert found.views["squared"] == pytest.approx((apart**2).sum(axis=1).mean())
        assert found.views["absolute"] == pytest.approx(np.abs(apart).sum(axis=1).mean())
        assert found.marginal["euclidean"] == pytest.approx(np.linalg.norm(mean))
        assert found.marginal["absolute"] == pytest.approx(np.abs(mean).sum())
        assert all(found.marginal[name] <= found.views[name] + 1e-9 for name in found.views)
        assert found.marginal["squared"] < found.views["squared"]


def test_the_bound_holds_for_sure_views_as_they_are_recorded():
    """1 - 2 p + p^2 loses its digits in float32 where p is nearly 1, and a root makes the loss of digits large."""
    rng = np.random.default_rng(1)
    for _ in range(200):
        views = rng.dirichlet(np.array([1e4, 1e-3, 1e-3]), 6)
        square = (views**2).sum(axis=1)
        stored = [each.astype(np.float32) for each in (views.mean(axis=0), views[:, 0], square)]
        assert all(image_risks(stored[0], 0, view_target=stored[1], view_square=stored[2]).bounded.values())


def test_a_p_bar_that_is_worse_than_its_views_is_not_bounded():
    views = np.array([[0.9, 0.1], [0.8, 0.2]])
    square = (views**2).sum(axis=1)
    found = image_risks(np.array([0.5, 0.5]), 0, view_target=views[:, 0], view_square=square)
    assert not any(found.bounded.values())
