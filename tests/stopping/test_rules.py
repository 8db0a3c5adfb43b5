"""The exact rule equals the full run always, and stops as early as one for every tie rule can; the other by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from viewvote.errors import UsageError
from viewvote.stopping import Confident, Exact
from viewvote.stopping.rules import adaptive_rounds, aligned_rounds, lead, leader_support
from viewvote.vote import TIE_RULES, RankedViews, count_kept, vote

CLASSES = 4
SHARPEST = 40.0

views_of_an_image = st.lists(
    st.tuples(st.integers(0, CLASSES - 1), st.sampled_from([0.5, 1.0, 2.0, 4.0, 8.0, 30.0])), min_size=1, max_size=40
)
one_sided = st.lists(
    st.tuples(st.sampled_from([0] * 12 + [1, 2]), st.sampled_from([1.0, 2.0, 8.0])), min_size=1, max_size=40
)
keeps = st.sampled_from([0.1, 0.3, 0.5, 0.9, 1.0])


def logits_of(views):
    """One row per (label, sharpness): the sharper, the lower the entropy; equal sharpness is an exact tie."""
    logits = np.zeros((len(views), CLASSES), dtype=np.float32)
    for row, (label, sharpness) in zip(logits, views, strict=True):
        row[label] = sharpness
    return logits


def settled_after(rule, logits, n):
    views = RankedViews(logits[:n])
    return rule.settled(views.labels, views.order)


@settings(max_examples=300, deadline=None)
@given(views=views_of_an_image | one_sided, keep=keeps, tie=st.sampled_from(TIE_RULES), draw=st.floats(0, 0.99))
def test_where_it_stops_every_tie_rule_gives_the_full_runs_answer(views, keep, tie, draw):
    logits = logits_of(views)
    full = vote(logits, keep=keep, tie=tie, tie_draw=draw)
    rule = Exact(len(views), keep)
    for n in range(1, len(views) + 1):
        if settled_after(rule, logits, n):
            seen = vote(logits[:n], keep=keep, tie=tie, tie_draw=draw)
            assert (seen.winner, seen.tied) == (full.winner, 1)
            assert full.tied == 1


@settings(max_examples=300, deadline=None)
@given(
    views=views_of_an_image | one_sided,
    keep=keeps,
    tie=st.sampled_from(TIE_RULES),
    say=st.lists(st.sampled_from([0.0, 0.1, 0.5, 1.0, 1.5, 3.0]), min_size=CLASSES, max_size=CLASSES),
)
def test_where_it_stops_the_full_runs_votes_with_a_say_give_the_same_answer(views, keep, tie, say):
    logits, added = logits_of(views), np.array(say)
    full = vote(logits, keep=keep, tie=tie, tie_draw=0.3, say=added)
    rule = Exact(len(views), keep, has_say=True)
    for n in range(1, len(views) + 1):
        seen = RankedViews(logits[:n])
        if rule.settled(seen.labels, seen.order, say=added):
            assert full.tied == 1
            assert vote(seen, keep=keep, tie=tie, tie_draw=0.3, say=added).winner == full.winner


def test_a_say_may_settle_it_at_the_first_look_and_only_just_by_hand():
    # 10 views, 3 kept, 8 seen: one certain view for class 0, two more may go to class 1; the lead must exceed 2/3
    rule, order = Exact(10, 0.3, has_say=True), np.arange(8)
    assert rule.rounds == (8, 10)
    assert rule.settled(np.zeros(8, dtype=np.int64), order, say=np.array([0.4, 0.0]))
    assert not rule.settled(np.zeros(8, dtype=np.int64), order, say=np.array([1 / 3, 0.0]))
    assert rule.settled(np.ones(8, dtype=np.int64), order, say=np.array([1.1, 0.0]))  # 1.1 - 1/3 > 2/3
    assert Exact(64, 0.3, has_say=True).rounds[0] == 8
    assert rule.settled(np.zeros(8, dtype=np.int64), order, say=np.array([0.1]))  # one label


@settings(max_examples=300, deadline=None)
@given(
    views=views_of_an_image | one_sided, keep=keeps, answers=st.lists(st.sampled_from([0] * 8 + [1, 2]), min_size=40)
)
def test_where_it_stops_a_teachers_votes_give_the_full_runs_answer(views, keep, answers):
    logits, rule = logits_of(views), Exact(len(views), keep)
    teacher = np.eye(CLASSES, dtype=np.float32)[answers[: len(views)]]  # what it would answer for each view
    order = vote(logits, keep=keep).order
    kept = order[: count_kept(len(views), keep)]
    full = vote(logits, keep=keep, teacher_logits=teacher[kept])
    for n in range(1, len(views) + 1):
        seen = vote(logits[:n], keep=keep)
        certain = rule.certain(seen.order)
        assert set(certain) <= set(kept)  # nobody is asked in vain
        labels = np.full(n, CLASSES - 1)  # of those that are not certain nothing is known
        labels[certain] = teacher[certain].argmax(axis=-1)
        if rule.settled(labels, seen.order):
            now = vote(logits[:n], keep=keep, teacher_logits=teacher[seen.order[: seen.k]])
            assert (now.winner, now.tied) == (full.winner, full.tied) == (full.winner, 1)


@settings(max_examples=300, deadline=None)
@given(views=views_of_an_image | one_sided, unseen=st.integers(1, 12), keep=keeps, others=st.data())
def test_no_later_views_can_change_what_it_settled(views, unseen, keep, others):
    rule = Exact(len(views) + unseen, keep)
    seen = logits_of(views)
    if settled_after(rule, seen, len(views)):
        winner = vote(seen, keep=keep).winner
        rival = others.draw(st.sampled_from([c for c in range(CLASSES) if c != winner]))
        confident = others.draw(st.integers(0, unseen))  # so many of them go to the front, for the rival
        rest = others.draw(st.lists(views_of_an_image.map(lambda v: v[0]), min_size=unseen, max_size=unseen))
        later = [(rival, SHARPEST)] * confident + rest[confident:]
        assert vote(np.concatenate([seen, logits_of(later)]), keep=keep).winner == winner


@settings(max_examples=300, deadline=None)
@given(views=views_of_an_image | one_sided, unseen=st.integers(0, 12), keep=keeps)
def test_where_it_goes_on_some_later_views_would_tie_or_change_the_answer(views, unseen, keep):
    rule = Exact(len(views) + unseen, keep)
    seen = logits_of(views)
    if not settled_after(rule, seen, len(views)):
        worst = [vote(np.concatenate([seen, logits_of([(c, SHARPEST)] * unseen)]), keep=keep) for c in range(CLASSES)]
        assert any(ballot.tied > 1 for ballot in worst) or len({ballot.winner for ballot in worst}) > 1


def test_with_the_papers_settings_it_cannot_stop_before_view_55():
    rule = Exact(64, 0.3)  # 19 kept; with 9 unseen, 10 unanimous views are certain to stay and 10 > 0 + 9
    assert rule.rounds == (56, 64)
    labels, order = np.zeros(64, dtype=np.int64), np.arange(64)
    assert rule.settled(labels[:55], order[:55])
    assert not rule.settled(labels[:54], order[:54])


@pytest.mark.parametrize(
    ("budget", "keep", "rounds"),
    [(64, 1.0, (40, 48, 56, 64)), (64, 0.1, (64,)), (8, 0.3, (8,)), (20, 1.0, (16, 20)), (1, 0.3, (1,))],
)
def test_it_looks_every_eight_views_from_the_first_that_can_settle(budget, keep, rounds):
    assert Exact(budget, keep).rounds == rounds


def test_support_is_the_mean_share_of_the_kept_views_the_confident_half_and_all():
    labels = np.array([5, 7, 5, 5, 7, 7, 5, 7])
    order = np.arange(8)  # half are 5 7 5 5
    assert leader_support(labels, order, keep=0.5) == (3 / 4 + 3 / 4 + 4 / 8) / 3  # four kept: three for class 5
    assert leader_support(labels, order, keep=0.3) == 0.0  # two kept: a tie
    assert leader_support(labels, order[::-1], keep=0.1) == (1 / 1 + 3 / 4 + 4 / 8) / 3  # one kept, 7; half are 7 5 7 7
    assert leader_support(labels[:1], order[:1], keep=0.3) == 1.0


def test_the_confident_rule_stops_at_its_rounds_only_and_at_its_thresholds():
    rule = Confident(rounds=(8, 16, 32), thresholds=(0.65, None), keep=0.5)
    labels = np.array([5, 7, 5, 5, 7, 7, 5, 7] * 4)
    order = np.arange(32)
    assert rule.settled(labels[:8], order[:8])  # 2/3
    assert not rule.settled(labels[:7], order[:7])
    assert not rule.settled(np.zeros(16, dtype=np.int64), order[:16])
    labels[3] = 7  # half: 5 7 5 7, kept the same
    assert not rule.settled(labels[:8], order[:8])
    with pytest.raises(UsageError, match="a threshold each but for the last"):
        Confident(rounds=(8, 16), thresholds=(1.0, 1.0), keep=0.3)


def test_rounds_are_short_at_first_and_end_with_the_budget():
    assert adaptive_rounds(64) == (1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 28, 32, 40, 48, 56, 64)
    assert adaptive_rounds(20) == (1, 2, 3, 4, 6, 8, 16, 20)
    assert adaptive_rounds(8) == (1, 2, 3, 4, 6, 8)
    assert adaptive_rounds(7) == (1, 2, 3, 4, 6, 7)
    assert adaptive_rounds(1) == (1,)


def test_the_lead_is_of_support_and_say_together():
    labels = np.array([0, 1, 0, 0, 1, 1, 0, 1])
    order = np.arange(8)
    # Four kept: 0 has 3/4; half 3/4, all 4/8: support 2/3 to 1/3.
    assert lead(labels, order, keep=0.5, say=np.array([0.0, 0.0])) == pytest.approx(1 / 3)
    assert lead(labels, order, keep=0.5, say=np.array([0.25, 0.5])) == pytest.approx(1 / 3 - 0.25)
    # The say turns the vote: 1/4 + 0.9 > 3/4 + 0.1, and then class 1 leads by its own measure.
    assert lead(labels, order, keep=0.5, say=np.array([0.1, 0.9])) == pytest.approx(1 / 3 + 0.9 - 2 / 3 - 0.1)
    assert lead(labels, order, keep=0.3, say=np.array([0.2, 0.2])) == 0.0  # two kept, a tie
    assert lead(labels[:1] * 0, order[:1], keep=0.3, say=np.array([0.4])) == np.inf  # no rival


def test_after_one_view_the_source_views_probability_decides():
    rule = Confident(rounds=(1, 4, 8), thresholds=(0.9, None), keep=0.3)
    one = np.zeros(1, dtype=np.int64)
    assert rule.settled(one, one, sure=0.9)
    assert not rule.settled(one, one, sure=0.89)
    assert rule.settled(one, one, say=np.array([0.5, 0.1]), sure=0.95)


def test_rounds_end_where_blocks_do():
    assert aligned_rounds((8, 16, 32, 64), 8) == (8, 16, 32, 64)
    assert aligned_rounds((8, 16, 32, 64), 16) == (16, 32, 64)
    assert aligned_rounds((56, 60), 16) == (60,)
    assert aligned_rounds((8, 20), 1) == (8, 20)


def test_the_worst_case_is_the_largest_number_of_intruders():
    """Exhaustive over small images: checking every j of the proof gives what the rule checks at its largest j."""
    rng = np.random.default_rng(0)
    for _ in range(300):
        n, unseen, keep = int(rng.integers(1, 12)), int(rng.integers(0, 8)), float(rng.choice([0.3, 0.6, 1.0]))
        labels, order = rng.integers(0, 3, n), rng.permutation(n)
        k = count_kept(n + unseen, keep)
        safe = set(range(3))
        for j in range(max(0, k - n), min(unseen, k) + 1):
            votes = np.bincount(labels[order[: k - j]], minlength=3)
            safe &= {c for c in range(3) if all(votes[c] > votes[d] + j for d in range(3) if d != c)}
        assert Exact(n + unseen, keep).settled(labels, order) == bool(safe)
