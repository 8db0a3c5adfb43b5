"""Images drawn again."""

import numpy as np

from viewvote.metrics.resample import AT_ONCE, resampled


def test_resampling_draws_whole_images():
    sums = resampled(np.array([[1.0], [10.0]]), rng=np.random.default_rng(0), resamples=50)
    assert set(sums[:, 0].tolist()) == {2.0, 11.0, 20.0}


def test_draws_are_the_same_however_many_are_held_at_once():
    counts = np.arange(6.0).reshape(3, 2)
    found = resampled(counts, rng=np.random.default_rng(1), resamples=AT_ONCE + 7)
    weights = np.random.default_rng(1).multinomial(3, np.full(3, 1 / 3), size=AT_ONCE + 7)
    assert found.shape == (AT_ONCE + 7, 2)
    assert np.allclose(found, weights @ counts)
