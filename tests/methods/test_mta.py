"""MTA against a naive oracle that follows its released steps with loops."""

import math

import numpy as np
import pytest

from viewvote.errors import UsageError
from viewvote.methods import ViewLogits
from viewvote.methods.mta import Mta


def naive_mta(features, probabilities):
    n, dim = len(features), len(features[0])

    def squared(a, b):
        return sum((x - y) ** 2 for x, y in zip(a, b, strict=True))

    k = int(0.3 * (n - 1))
    spread = []
    for p in range(n):
        others = sorted(squared(features[p], features[q]) for q in range(n))[1:]
        spread.append(sum(others[:k]) / k)
    affinity = [
        [sum(a * b for a, b in zip(probabilities[p], probabilities[q], strict=True)) for q in range(n)]
        for p in range(n)
    ]
    y, m = [1 / n] * n, list(features[0])
    for _ in range(5):
        kernel = [math.exp(-squared(features[p], m) / spread[p]) for p in range(n)]
        for _ in range(5):
            z = [(kernel[p] + 4 * sum(affinity[p][q] * y[q] for q in range(n))) / 0.2 for p in range(n)]
            top = max(z)
            e = [math.exp(v - top) for v in z]
            new = [v / sum(e) for v in e]
            moved = math.sqrt(squared(new, y))
            y = new
            if moved < 1e-6:
                break
        for _ in range(5):
            g = [math.exp(-squared(features[p], m) / spread[p]) * y[p] for p in range(n)]
            new = [sum(g[p] * features[p][d] for p in range(n)) / sum(g) for d in range(dim)]
            length = math.sqrt(sum(v * v for v in new))
            new = [v / length for v in new]
            moved = math.sqrt(squared(new, m))
            m = new
            if moved < 1e-6:
                break
    return m, y


def sample(n, dim=6, classes=4, seed=0, spread=0.4):
    rng = np.random.default_rng(seed)
    features = rng.normal(size=dim) + spread * rng.normal(size=(n, dim))
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    logits = rng.normal(0, 3, (n, classes))
    probabilities = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    return features, probabilities


@pytest.mark.parametrize("n", [5, 12, 64])
@pytest.mark.parametrize("seed", range(5))
def test_the_oracle_agrees(n, seed):
    features, probabilities = sample(n, seed=seed)
    mode, weights = Mta().find_mode(features, probabilities)
    expected_mode, expected_weights = naive_mta(features.tolist(), probabilities.tolist())
    np.testing.assert_allclose(mode, expected_mode, atol=1e-9)
    np.testing.assert_allclose(weights, expected_weights, atol=1e-9)


def test_sixty_four_views_have_eighteen_neighbours():
    features, _ = sample(64)
    squared = np.sort(((features[0] - features) ** 2).sum(axis=1))[1:19]
    assert Mta()._bandwidths(features)[0] == pytest.approx(squared.mean())


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_few_views_give_a_number(n):
    mode, weights = Mta().find_mode(*sample(n))
    assert np.isfinite(mode).all()
    assert weights.sum() == pytest.approx(1)


def test_identical_views_are_their_own_mode():
    features, probabilities = sample(1)
    mode, weights = Mta().find_mode(np.repeat(features, 8, axis=0), np.repeat(probabilities, 8, axis=0))
    np.testing.assert_allclose(mode, features[0], atol=1e-9)
    np.testing.assert_allclose(weights, 1 / 8)


def test_an_outlier_is_weighted_down_and_the_answer_comes_from_the_mode():
    text = np.eye(3, dtype=np.float32)
    features = np.array(
        [[0.9, 0.1, 0], [0.95, 0.05, 0], [0.92, 0.02, 0.05], [0.9, 0, 0.1], [0, 0, 1], [0.99, 0, 0]], np.float32
    )
    features /= np.linalg.norm(features, axis=-1, keepdims=True)
    views = ViewLogits(20 * features @ text.T, logit_scale=20, features=features, text=text)
    decision = Mta().decide(views)
    assert decision.index == 0
    assert not decision.views.kept[4]


def test_features_are_needed():
    with pytest.raises(UsageError, match="needs ViewLogits with features"):
        Mta().decide(ViewLogits(np.zeros((2, 2), np.float32)))
