"""Two runs on the same images: by hand, and against resampling images one by one."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest

from viewvote.metrics.paired import mcnemar, paired_bootstrap


def outcomes(only_first, only_second, both=5, neither=3):
    first = np.array([True] * (only_first + both) + [False] * (only_second + neither))
    second = np.array([False] * only_first + [True] * (both + only_second) + [False] * neither)
    return first, second


@pytest.mark.parametrize(("b", "c"), [(0, 0), (1, 0), (0, 5), (3, 3), (2, 9), (10, 3), (40, 61)])
def test_p_values_are_those_of_exact_fractions(b, c):
    n, m = b + c, min(b, c)
    at = Fraction(comb(n, m), 2**n)
    below = sum(Fraction(comb(n, k), 2**n) for k in range(m))
    test = mcnemar(*outcomes(b, c))
    assert (test.only_first, test.only_second) == (b, c)
    assert test.exact == pytest.approx(float(min(Fraction(1), 2 * (below + at))))
    assert test.mid_p == pytest.approx(float(2 * below + at))


def test_a_case_by_hand():
    test = mcnemar(*outcomes(1, 4))  # 5 tosses, at most one head: (1 + 5) / 32, both sides
    assert test.exact == pytest.approx(12 / 32)
    assert test.mid_p == pytest.approx((2 * 1 + 5) / 32)


def test_thousands_of_images_neither_overflow_nor_take_long():
    test = mcnemar(*outcomes(12_000, 12_500, both=20_000))
    z = 500 / np.sqrt(24_500)  # the chi-square statistic's root
    assert test.mid_p == pytest.approx(2 * 0.000700, rel=0.02)
    assert z == pytest.approx(3.1944, abs=1e-3)
    assert mcnemar(*outcomes(0, 5000)).exact == pytest.approx(0.0, abs=1e-300)


def test_swapping_the_runs_changes_no_p_value():
    first, second = outcomes(4, 11)
    one, other = mcnemar(first, second), mcnemar(second, first)
    assert (one.exact, one.mid_p) == (other.exact, other.mid_p)


def test_the_bootstrap_is_that_of_images_drawn_one_by_one():
    first, second = outcomes(20, 45, both=60, neither=25)
    differences = second.astype(float) - first.astype(float)
    found = paired_bootstrap(differences, rng=np.random.default_rng(0))
    rng = np.random.default_rng(1)
    naive = [rng.choice(differences, len(differences)).mean() for _ in range(10_000)]
    assert found.value == pytest.approx(25 / 150)
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(naive, [0.025, 0.975])), abs=0.01)
    assert found.n == 150


def test_the_bootstrap_repeats_with_its_generator_and_leaves_the_global_one_alone():
    differences = np.array([1.0, 0, 0, -1, 1 / 3, 1, 1])
    before = np.random.get_state()[1].tolist()  # noqa: NPY002 - that it is untouched is the point
    one = paired_bootstrap(differences, rng=np.random.default_rng(7))
    assert one == paired_bootstrap(differences, rng=np.random.default_rng(7))
    assert np.random.get_state()[1].tolist() == before  # noqa: NPY002


def test_no_images_have_no_difference():
    assert np.isnan(paired_bootstrap(np.zeros(0), rng=np.random.default_rng(0)).value)
