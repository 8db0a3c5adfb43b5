"""How likely an answer is: blends, the answer in front, and a temperature for the rest."""

from math import exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from viewvote import UsageError
from viewvote.probability import ProbabilityFit, led_by, log_odds, spread, within_reach

vectors = st.lists(st.floats(0.001, 1), min_size=2, max_size=12).map(lambda v: np.array(v) / np.sum(v))


def test_an_answer_in_front_is_left_alone():
    assert led_by(np.array([0.2, 0.5, 0.3]), 1).tolist() == [0.2, 0.5, 0.3]


def test_an_answer_behind_another_shares_with_it():
    found = led_by(np.array([0.5, 0.3, 0.2]), 1)
    assert found.tolist() == pytest.approx([0.4, 0.4, 0.2])
    assert found.argmax() == 1


def test_only_those_above_the_common_level_share():
    # 0.1 and 0.5 would meet at 0.3, which is still above 0.25: that one keeps what it has.
    found = led_by(np.array([0.5, 0.25, 0.15, 0.1]), 3)
    assert found.tolist() == pytest.approx([0.3, 0.25, 0.15, 0.3])
    # 0.05 and 0.4 meet at 0.225, below the other 0.4: all three share 0.85.
    assert led_by(np.array([0.4, 0.4, 0.15, 0.05]), 3).tolist() == pytest.approx([0.85 / 3] * 2 + [0.15, 0.85 / 3])


@given(vectors, st.integers(0, 11))
def test_the_answer_leads_alone_and_nothing_is_lost(probabilities, answer):
    answer %= len(probabilities)
    led = led_by(probabilities, answer)
    assert led.sum() == pytest.approx(1)
    assert led.argmax() == answer or led[answer] == probabilities.max()
    assert (led <= np.maximum(probabilities, led[answer])).all()


def test_a_fit_is_a_line_through_log_odds():
    fit = ProbabilityFit(source=0.5, slope=2.0, offset=-1.0)
    expected = 1 / (1 + exp(-(2 * log(0.8 / 0.2) - 1)))
    assert fit.apply(0.8) == pytest.approx(expected)
    assert ProbabilityFit().apply(0.123) == 0.123
    assert ProbabilityFit(most=0.9).apply(0.5) == 0.45
    assert ProbabilityFit(slope=2.0, offset=-1.0, most=0.9).apply(0.8) == pytest.approx(0.9 * expected)
    assert 0 <= fit.apply(0.0) < 1e-6
    assert 1 - 1e-6 < fit.apply(1.0) <= 1


def test_log_odds_are_finite():
    assert log_odds(0.5) == 0
    assert log_odds(0.75) == pytest.approx(log(3))
    assert log_odds(1.0) == pytest.approx(-log_odds(0.0), rel=1e-5)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"source": 1.5}, "between 0 and 1"),
        ({"slope": 0}, "slope must be above 0"),
        ({"slope": float("nan")}, "slope of a probability's fit is a number"),
        ({"most": 0}, "largest probability"),
        ({"most": 1.1}, "largest probability"),
        ({"offset": "much"}, "offset of a probability's fit is a number"),
    ],
)
def test_a_fit_that_means_nothing_is_refused(wrong, message):
    with pytest.raises(UsageError, match=message):
        ProbabilityFit(**wrong)


def test_a_probability_stays_where_the_answer_can_have_it():
    blend = np.array([0.4, 0.4, 0.2])
    assert within_reach(0.9, blend, 0) == 0.5  # another label is as likely
    assert within_reach(0.1, blend, 0) == pytest.approx(1 / 3)  # below, it would not lead
    assert within_reach(0.45, blend, 0) == 0.45
    assert within_reach(0.2, np.array([1.0]), 0) == 1.0


@given(vectors, st.floats(0, 1))
def test_the_rest_follows_at_one_temperature(probabilities, sureness):
    answer = int(probabilities.argmax())
    wanted = within_reach(sureness, probabilities, answer)
    found = spread(probabilities.astype(np.float32), answer, wanted)
    assert found[answer] == np.float32(wanted)
    assert found.argmax() == answer
    assert found.sum() == pytest.approx(1, abs=1e-5)
    order = np.argsort(-probabilities, kind="stable")
    assert (np.diff(found[order]) <= 1e-6).all()


def test_a_temperature_by_hand():
    # Odds 4 : 2 : 1 to the power of 2 are 16 : 4 : 1.
    found = spread(np.array([4, 2, 1], dtype=np.float32) / 7, 0, 16 / 21)
    assert found.tolist() == pytest.approx([16 / 21, 4 / 21, 1 / 21], abs=1e-5)
