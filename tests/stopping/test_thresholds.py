"""The thresholds of the Confident rule: chosen by hand-made supports, bounded by binomial tails."""

import math

import numpy as np
import pytest

from viewvote.errors import UsageError
from viewvote.stopping.calibrate import Replay, calibrate
from viewvote.stopping.thresholds import LEAD, choose_thresholds, falling, most_differing, stopped_at


def test_so_few_differing_answers_are_unlikely_at_a_higher_rate():
    def tail(n, rate, most):
        return sum(math.comb(n, i) * rate**i * (1 - rate) ** (n - i) for i in range(most + 1))

    for n in (10, 60, 300):
        for rate in (0.01, 0.05, 0.3):
            most = most_differing(n, rate)
            assert tail(n, rate, most) <= 0.1 < tail(n, rate, most + 1)


@pytest.mark.parametrize(("n", "rate"), [(25_000, 0.03), (25_000, 0.5), (100_000, 0.01)])
def test_many_records_do_not_underflow_the_chance_of_no_difference(n, rate):
    def log_comb(i):
        return math.lgamma(n + 1) - math.lgamma(i + 1) - math.lgamma(n - i + 1)

    def tail(most):
        return math.fsum(
            math.exp(log_comb(i) + i * math.log(rate) + (n - i) * math.log1p(-rate)) for i in range(most + 1)
        )

    most = most_differing(n, rate)
    assert tail(most) <= 0.1 < tail(most + 1)


def test_no_more_answers_differ_than_there_are():
    assert most_differing(5, 1 - 1e-12) == 4
    assert most_differing(0, 0.5) == -1


def test_thresholds_fall_with_every_doubling_and_not_below_a_half():
    assert falling((4, 8, 16, 32, 64), 1.1, 0.25) == (None, 0.85, 0.6, 0.5)
    assert falling((4, 6, 8), 0.9, 0.2) == (0.9, 0.783)  # log2(6 / 4) = 0.585
    assert falling((7,), 0.9, 0.2) == ()


def test_a_record_stops_where_its_support_first_reaches_the_threshold():
    support = np.array([[0.9, 0.0, 0.0], [0.8, 0.7, 1.0], [0.8, 0.6, 0.0], [1.0, 1.0, 1.0]])
    assert stopped_at(support, (0.9, 0.7)).tolist() == [0, 1, 2, 0]
    assert stopped_at(support, (None, None)).tolist() == [2, 2, 2, 2]


def test_where_every_early_stop_differs_nothing_stops_early():
    support, answers = np.ones((60, 3)), np.repeat([[1, 1, 0]], 60, axis=0)
    never = choose_thresholds(support, answers, (4, 8, 16), lambda ended: bool((ended == 2).all()))
    assert never == (None, None)
    assert choose_thresholds(support, answers, (4, 8, 16), lambda ended: len(ended) == 0) is None


def test_too_few_records_cannot_show_a_small_rate():
    answers = np.ones((60, 2), np.int64)
    replayed = Replay(tuple(f"k{i}" for i in range(60)), answers[:, 0], 0.3, (4, 8), answers, np.ones((60, 2)))
    with pytest.raises(UsageError, match=r"records cannot show a disagreement below 0\.01; .* at least 230"):
        calibrate(replayed, disagreement=0.01, provenance={})


def test_after_one_view_another_threshold_holds_and_leads_may_be_above_one():
    assert falling((1, 2, 4, 8), 0.9, 0.1, first=0.8) == (0.8, 1.0, 0.9)
    assert falling((1, 2, 4, 8), 1.5, 0.5, first=None) == (None, None, None)
    assert falling((1, 2, 4, 8), 1.5, 0.5, first=0.7, grid=LEAD) == (0.7, 2.0, 1.5)
    assert falling((1, 16, 64, 99), 1.0, 0.5, grid=LEAD) == (None, 0.1, 0.1)
