"""Tie rules, each on ties that it decides for its own reason."""

import numpy as np
import pytest

from viewvote import vote as v
from viewvote.errors import UnknownNameError, UsageError


def rows_for(entropy_rank_and_class, n_classes=3, top=20.0):
    """Rows whose confidence falls with the view index: margin `top` - index on the given class."""
    logits = np.zeros((len(entropy_rank_and_class), n_classes), dtype=np.float32)
    for i, c in enumerate(entropy_rank_and_class):
        logits[i, c] = top - i
    return logits


def test_tie_goes_to_the_next_most_confident_view():
    logits = rows_for([0, 1, 2, 1])  # k = 2: a tie of 0 and 1; view 2 says 2 (not tied), view 3 says 1
    ballot = v.vote(logits, keep=0.5)
    assert (ballot.winner, ballot.tie_break, ballot.tied) == (1, "greedy", 2)


def test_greedy_scans_by_confidence_and_not_by_view_index():
    logits = rows_for([0, 1, 1, 0])
    logits[[2, 3]] = logits[[3, 2]]  # now view 3 is the more confident of the discarded ones and says 1
    assert v.vote(logits, keep=0.5).winner == 1


def test_greedy_falls_back_to_the_most_confident_kept_view():
    assert v.vote(rows_for([1, 0, 2, 2]), keep=0.5).tie_break == "most-confident"
    assert v.vote(rows_for([1, 0, 2, 2]), keep=0.5).winner == 1
    everything_kept = v.vote(rows_for([1, 0]), keep=1)
    assert (everything_kept.winner, everything_kept.tie_break) == (1, "most-confident")


def test_the_fallback_ignores_confident_views_outside_the_tie():
    # one vote for 2 (the most confident), two for 1, two for 0: the tie is between 0 and 1
    ballot = v.vote(rows_for([2, 1, 0, 0, 1]), keep=1)
    assert (ballot.winner, ballot.tied) == (1, 2)


def disagreeing_tie():
    """Classes 0..3 tie with two votes each among the 8 kept views, and every rule has a different reason.

    Entropies by hand: a row with one logit a and three zeros is the more certain the larger a is; adding b to the
    whole row changes logits but not entropy.
    """
    logits = np.zeros((10, 4), dtype=np.float32)

    def view(i, winner, margin, offset=0.0, second=None, second_logit=0.0):
        logits[i] = offset
        logits[i, winner] += margin
        if second is not None:
            logits[i, second] += second_logit

    view(0, 0, 12.0)  # the single most confident view says 0 ...
    view(1, 0, 2.2)  # ... but its other vote is weak, so class 0 is not the most certain group
    view(2, 1, 9.0)  # class 1: the most certain group of probabilities
    view(3, 1, 9.0)
    view(4, 2, 3.0, offset=30.0)  # class 2: the largest single logit, 33
    view(5, 2, 3.0, offset=-40.0)
    view(6, 3, 4.0, offset=5.0, second=2, second_logit=-40.0)  # class 3: the largest mean logit
    view(7, 3, 4.0, offset=5.0, second=2, second_logit=-40.0)
    view(8, 3, 2.0, second=0, second_logit=1.9)  # discarded, least certain: greedy decides for 3
    view(9, 3, 2.0, second=0, second_logit=1.9)
    return logits


def test_each_rule_decides_a_hand_made_tie_for_its_own_reason():
    logits = disagreeing_tie()
    base = v.vote(logits, keep=0.8)
    assert base.votes.tolist() == [2, 2, 2, 2]
    assert sorted(np.flatnonzero(base.views.kept)) == list(range(8))

    def winner(rule, **kw):
        ballot = v.vote(logits, keep=0.8, tie=rule, **kw)
        assert ballot.tie_break == rule
        return ballot.winner

    assert winner("greedy") == 3  # the first discarded view
    assert winner("most-confident") == 0  # view 0, margin 12
    # group p-bar: class 1 is two margins of 9 (entropy about .0037), class 0 mixes 12 with 2.2 (about .49)
    assert winner("group-marginal") == 1
    assert winner("max-logit") == 2  # 33 in view 4
    # summed over kept views: class 2 loses 80 in views 6 and 7; 0 gets 14.2, 1 gets 18, 3 gets 8
    assert winner("mean-logits") == 1
    # averaged logits: margins 0: 7.1, 1: 9, 2: 3, 3: 4 with class 2 pushed away; the largest margin is most certain
    assert winner("group-logits") == 1
    assert [winner("random", tie_draw=u) for u in (0.0, 0.25, 0.5, 0.99)] == [0, 1, 2, 3]


def test_group_marginal_and_group_logits_disagree_where_one_view_is_extreme():
    # class 0: margins 40 and 0.1: averaged probabilities stay unsure, averaged logits (margin 20) are certain
    # class 1: margins 3 and 3
    logits = np.array([[40, 0, 0], [0.1, 0, 0], [0, 3, 0], [0, 3, 0]], dtype=np.float32)
    assert v.vote(logits, keep=1, tie="group-marginal").winner == 1
    assert v.vote(logits, keep=1, tie="group-logits").winner == 0


def test_max_logit_and_mean_logits_disagree_where_a_view_is_scaled_up():
    # class 0 has the largest logit (10) but a mean of 2.5; class 1 has 5 twice in its own views and a mean of 2.625
    logits = np.array([[10, 0, 0], [0.5, 0, 0], [0, 5, 0], [-0.5, 5.5, 0]], dtype=np.float32)
    assert v.vote(logits, keep=1, tie="max-logit").winner == 0
    assert v.vote(logits, keep=1, tie="mean-logits").winner == 1


def test_a_group_without_any_probability_for_a_class_has_no_nan():
    logits = np.array([[2000, 0, 0], [0, 2000, 0]], dtype=np.float32)
    assert v.vote(logits, keep=1, tie="group-marginal").winner == 0


def test_an_unknown_tie_rule_suggests_the_nearest():
    with pytest.raises(UnknownNameError, match="Did you mean 'greedy'"):
        v.vote(np.zeros((2, 2)), tie="greddy")


@pytest.mark.parametrize("draw", [None, 1.0, -0.1, float("nan")])
def test_random_ties_need_a_draw(draw):
    with pytest.raises(UsageError, match="tie_draw"):
        v.vote(np.zeros((2, 2)), tie="random", tie_draw=draw)
