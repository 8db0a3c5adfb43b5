"""The vote against hand-made cases, a naive loop oracle, and the properties it must have."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from viewvote import vote as v
from viewvote.errors import NonFiniteError, UnknownNameError, UsageError


def naive_entropy(row):
    top = max(row)
    total = sum(math.exp(x - top) for x in row)
    return -sum(math.exp(x - top) / total * (x - top - math.log(total)) for x in row)


def naive_zero(logits, keep):
    """Algorithm 1 and the appendix's greedy rule, one view at a time."""
    n = len(logits)
    order = sorted(range(n), key=lambda i: v.entropy_of(v.log_softmax(logits[i])))
    k = max(1, int(n * keep))
    labels = [int(np.argmax(row)) for row in logits]
    counts = {}
    for i in order[:k]:
        counts[labels[i]] = counts.get(labels[i], 0) + 1
    best = max(counts.values())
    tied = {c for c, n_votes in counts.items() if n_votes == best}
    if len(tied) == 1:
        return tied.pop(), counts, None
    for i in order[k:]:
        if labels[i] in tied:
            return labels[i], counts, "greedy"
    return next(labels[i] for i in order[:k] if labels[i] in tied), counts, "most-confident"


def test_entropy_by_hand():
    # two equal classes: ln 2; one certain class: 0; three equal: ln 3
    logits = np.array([[0, 0, -1e4], [300, 0, 0], [5, 5, 5]], dtype=np.float32)
    np.testing.assert_allclose(v.entropy_of(v.log_softmax(logits)), [math.log(2), 0, math.log(3)], atol=1e-6)


def test_entropy_agrees_with_the_definition_in_double_precision():
    rows = np.random.default_rng(0).normal(0, 20, (200, 30)).astype(np.float32)
    np.testing.assert_allclose(v.entropy_of(v.log_softmax(rows)), [naive_entropy(r) for r in rows.tolist()], atol=2e-5)


@pytest.mark.parametrize(
    ("n", "keep", "k"),
    [(64, 0.3, 19), (64, 0.1, 6), (3, 0.3, 1), (1, 0.01, 1), (10, 1.0, 10), (64, 1, 64), (7, 0.5, 3)],
)
def test_the_kept_count_is_truncated_but_at_least_one(n, keep, k):
    assert v.count_kept(n, keep) == k


@pytest.mark.parametrize("keep", [0, -0.1, 1.0001, float("nan"), float("inf")])
def test_keep_outside_its_range_is_an_error(keep):
    with pytest.raises(UsageError, match="keep must be above 0"):
        v.vote(np.zeros((4, 2)), keep=keep)


def test_ranking_is_stable_for_equal_entropies():
    assert v.rank_by_confidence(np.array([2, 1, 2, 1, 0], dtype=np.float32)).tolist() == [4, 1, 3, 0, 2]


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf"), 1e39])
def test_a_non_finite_logit_names_its_view(bad):
    logits = np.zeros((5, 3))
    logits[3, 1] = bad
    with pytest.raises(NonFiniteError, match="view 3 has a non-finite logit"):
        v.vote(logits)
    with pytest.raises(NonFiniteError, match="view 3 of image 1"):
        v.vote(np.stack([np.zeros((5, 3)), logits]))


@pytest.mark.parametrize("shape", [(3,), (0, 3), (3, 0), (2, 0, 3), (1, 2, 3, 4)])
def test_logits_of_another_shape_are_an_error(shape):
    with pytest.raises(UsageError, match="logits must be"):
        v.vote(np.zeros(shape))


def test_no_image_at_all_is_an_empty_ballot():
    assert len(v.vote(np.zeros((0, 4, 3)))) == 0


def test_votes_are_integer_counts_of_the_kept_views():
    # entropies ascend with the view index: margins 8, 7, 6, 5, 4
    logits = np.array([[8, 0, 0], [0, 7, 0], [6, 0, 0], [0, 5, 0], [0, 4, 0]], dtype=np.float32)
    ballot = v.vote(logits, keep=0.6)
    assert ballot.k == 3
    assert ballot.votes.dtype == np.int64
    assert ballot.votes.tolist() == [2, 1, 0]
    assert ballot.kept.tolist() == [True, True, True, False, False]
    assert int(ballot.winner) == 0
    assert ballot.tie_break is None
    assert float(ballot.share) == pytest.approx(2 / 3)
    assert bool(ballot.source_agrees)


def test_the_source_view_may_disagree_with_the_winner():
    logits = np.array([[1, 0], [0, 9], [0, 8]], dtype=np.float32)
    ballot = v.vote(logits, keep=0.7)
    assert int(ballot.winner) == 1
    assert not bool(ballot.source_agrees)


def test_the_marginal_is_the_mean_probability_of_the_kept_views():
    logits = np.log(np.array([[0.9, 0.1], [0.8, 0.2], [0.5, 0.5]], dtype=np.float32))
    ballot = v.vote(logits, keep=0.7)  # keeps views 0 and 1
    np.testing.assert_allclose(ballot.marginal, [0.85, 0.15], atol=1e-6)
    np.testing.assert_allclose(v.marginal(logits), [2.2 / 3, 0.8 / 3], atol=1e-6)
    np.testing.assert_allclose(v.marginal(logits, np.array([2])), [0.5, 0.5], atol=1e-6)


def test_top_probability_is_the_largest_probability_of_each_view():
    logits = np.log(np.array([[0.7, 0.3], [0.4, 0.6]], dtype=np.float32))
    np.testing.assert_allclose(v.vote(logits, keep=1).top_probability, [0.7, 0.6], atol=1e-6)


# ---------------------------------------------------------------- ties


def rows_for(entropy_rank_and_class, n_classes=3, top=20.0):
    """Rows whose confidence falls with the view index: margin `top` - index on the given class."""
    logits = np.zeros((len(entropy_rank_and_class), n_classes), dtype=np.float32)
    for i, c in enumerate(entropy_rank_and_class):
        logits[i, c] = top - i
    return logits


def test_tie_goes_to_the_next_most_confident_view():
    logits = rows_for([0, 1, 2, 1])  # k = 2: a tie of 0 and 1; view 2 says 2 (not tied), view 3 says 1
    ballot = v.vote(logits, keep=0.5)
    assert (int(ballot.winner), ballot.tie_break, int(ballot.tied)) == (1, "greedy", 2)


def test_greedy_scans_by_confidence_and_not_by_view_index():
    logits = rows_for([0, 1, 1, 0])
    logits[[2, 3]] = logits[[3, 2]]  # now view 3 is the more confident of the discarded ones and says 1
    assert int(v.vote(logits, keep=0.5).winner) == 1


def test_greedy_falls_back_to_the_most_confident_kept_view():
    assert v.vote(rows_for([1, 0, 2, 2]), keep=0.5).tie_break == "most-confident"
    assert int(v.vote(rows_for([1, 0, 2, 2]), keep=0.5).winner) == 1
    everything_kept = v.vote(rows_for([1, 0]), keep=1)
    assert (int(everything_kept.winner), everything_kept.tie_break) == (1, "most-confident")


def test_the_fallback_ignores_confident_views_outside_the_tie():
    # one vote for 2 (the most confident), two for 1, two for 0: the tie is between 0 and 1
    ballot = v.vote(rows_for([2, 1, 0, 0, 1]), keep=1)
    assert (int(ballot.winner), int(ballot.tied)) == (1, 2)


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
    assert sorted(np.flatnonzero(base.kept)) == list(range(8))

    def winner(rule, **kw):
        ballot = v.vote(logits, keep=0.8, tie=rule, **kw)
        assert ballot.tie_break == rule
        return int(ballot.winner)

    assert winner("greedy") == 3  # the first discarded view
    assert winner("most-confident") == 0  # view 0, margin 12
    # group p-bar: class 1 is two margins of 9 (entropy about .0037), class 0 mixes 12 with 2.2 (about .49)
    assert winner("group-marginal") == 1
    assert winner("max-logit") == 2  # 33 in view 4
    # summed over kept views: class 2 loses 80 in views 6 and 7; 0 gets 14.2, 1 gets 18, 3 gets 8
    assert winner("mean-logits") == 1
    # averaged logits: margins 0: 7.1, 1: 9, 2: 3, 3: 4 with class 2 pushed away; the largest margin is most certain
    assert winner("group-logits") == 1
    assert [winner("random", tie_draws=u) for u in (0.0, 0.25, 0.5, 0.99)] == [0, 1, 2, 3]


def test_group_marginal_and_group_logits_disagree_where_one_view_is_extreme():
    # class 0: margins 40 and 0.1: averaged probabilities stay unsure, averaged logits (margin 20) are certain
    # class 1: margins 3 and 3
    logits = np.array([[40, 0, 0], [0.1, 0, 0], [0, 3, 0], [0, 3, 0]], dtype=np.float32)
    assert int(v.vote(logits, keep=1, tie="group-marginal").winner) == 1
    assert int(v.vote(logits, keep=1, tie="group-logits").winner) == 0


def test_max_logit_and_mean_logits_disagree_where_a_view_is_scaled_up():
    # class 0 has the largest logit (10) but a mean of 2.5; class 1 has 5 twice in its own views and a mean of 2.625
    logits = np.array([[10, 0, 0], [0.5, 0, 0], [0, 5, 0], [-0.5, 5.5, 0]], dtype=np.float32)
    assert int(v.vote(logits, keep=1, tie="max-logit").winner) == 0
    assert int(v.vote(logits, keep=1, tie="mean-logits").winner) == 1


def test_a_group_without_any_probability_for_a_class_has_no_nan():
    logits = np.array([[2000, 0, 0], [0, 2000, 0]], dtype=np.float32)
    assert int(v.vote(logits, keep=1, tie="group-marginal").winner) == 0


def test_an_unknown_tie_rule_suggests_the_nearest():
    with pytest.raises(UnknownNameError, match="Did you mean 'greedy'"):
        v.vote(np.zeros((2, 2)), tie="greddy")


@pytest.mark.parametrize("draws", [None, [0.1, 0.2], 1.0, -0.1, float("nan")])
def test_random_ties_need_one_draw_per_image(draws):
    with pytest.raises(UsageError, match="tie_draws"):
        v.vote(np.zeros((2, 2)), tie="random", tie_draws=draws)


# ---------------------------------------------------------------- the authors' soft votes


@pytest.mark.parametrize(("gap", "share"), [(0.001, 0.74), (0.002, 0.89), (0.005, 0.994)])
def test_fp16_eps_gives_the_published_fractions_of_a_vote(gap, share):
    """zero-spec D2: a cosine lead of 0.001 earns 0.74 of a vote; 0.125 keeps the fp16 rounding below the gap."""
    votes = v.soft_tally(np.array([[0.125 + gap, 0.125]], dtype=np.float32), "eps-fp16")
    assert votes[0] == pytest.approx(share, abs=0.02)


def test_bf16_eps_is_about_the_models_own_temperature():
    votes = v.soft_tally(np.array([[0.265625, 0.25]], dtype=np.float32), "eps-bf16")  # a gap of two bf16 eps
    assert votes[0] == pytest.approx(1 / (1 + math.exp(-2)), abs=1e-6)


def test_fp32_eps_is_one_hot():
    votes = v.soft_tally(np.array([[0.25, 0.2499], [0.1, 0.3]], dtype=np.float32), "eps-fp32")
    np.testing.assert_array_equal(votes, [1, 1])


def test_cosines_are_rounded_to_the_authors_precision():
    # fp16 has a spacing of 2^-12 at 0.25: a lead of 2^-14 disappears, and the two classes tie exactly
    votes = v.soft_tally(np.array([[0.25 + 2**-14, 0.25]], dtype=np.float32), "eps-fp16")
    assert votes.tolist() == [0.5, 0.5]


def test_soft_votes_come_from_the_scaled_logits():
    cosines = np.array([[0.25, 0.251], [0.3, 0.25], [0.2, 0.28]], dtype=np.float32)
    soft = v.vote(cosines * 100 - 7, keep=1, zero_temperature="eps-fp16", logit_scale=100, logit_bias=-7)
    np.testing.assert_allclose(soft.votes, v.soft_tally(cosines, "eps-fp16"), atol=0.05)
    assert soft.votes.dtype == np.float32
    assert soft.votes.sum() == pytest.approx(3, abs=1e-5)


def test_soft_votes_may_tie_for_a_class_that_no_view_prefers():
    # class 1 and 2 are twins everywhere and share the lead softly, but argmax names class 0 and 1 only
    cosines = np.array([[0.25, 0.2495, 0.2495], [0.25, 0.2505, 0.2505]], dtype=np.float32)
    ballot = v.vote(cosines, keep=1, zero_temperature="eps-bf16", tie="greedy")
    assert ballot.votes[1] == ballot.votes[2]
    twins = v.break_tie(np.array([2]), cosines, np.array([0, 1]), np.array([0, 1]), k=2, rule="group-logits")
    assert twins == (2, "mean-logits")


def test_an_unknown_temperature_is_an_error():
    with pytest.raises(UnknownNameError, match="eps-fp16"):
        v.vote(np.zeros((2, 2)), zero_temperature="eps-fp8")


@pytest.mark.parametrize(
    ("value", "rounded"),
    [(1.0, 1.0), (1 + 2**-8, 1.0), (1 + 3 * 2**-8, 1 + 2**-6), (1 + 2**-8 + 2**-20, 1 + 2**-7), (-0.3, -0.30078125)],
)
def test_bf16_rounds_to_nearest_even(value, rounded):
    assert v.round_to_bf16(np.array([value], dtype=np.float32))[0] == rounded


# ---------------------------------------------------------------- properties

# eighths are exact in float32, so adding a whole number to a row changes nothing after the maximum is taken off
eighths = st.integers(-80, 80).map(lambda i: i / 8)
shapes = st.tuples(st.integers(1, 9), st.integers(1, 5))
logit_arrays = shapes.flatmap(
    lambda s: st.lists(st.lists(eighths, min_size=s[1], max_size=s[1]), min_size=s[0], max_size=s[0])
).map(lambda rows: np.array(rows, dtype=np.float32))
keeps = st.sampled_from([0.1, 0.3, 0.5, 0.75, 1.0])


def distinct_entropies(logits):
    e = np.sort(v.entropy_of(v.log_softmax(logits)))
    return len(e) == 1 or float(np.diff(e).min()) > 1e-4


@given(logit_arrays, keeps)
def test_the_naive_oracle_agrees(logits, keep):
    winner, counts, rule = naive_zero(logits, keep)
    ballot = v.vote(logits, keep=keep)
    assert (int(ballot.winner), ballot.tie_break) == (winner, rule)
    assert {c: n for c, n in enumerate(ballot.votes.tolist()) if n} == counts


def test_the_naive_oracle_agrees_on_thousands_of_random_cases():
    rng = np.random.default_rng(1)
    ties = 0
    for _ in range(3000):
        n, c = rng.integers(1, 24), rng.integers(1, 7)
        logits = rng.integers(-4, 5, (n, c)).astype(np.float32)  # coarse, so that ties and equal entropies abound
        keep = float(rng.choice([0.1, 0.3, 0.5, 1.0]))
        winner, counts, rule = naive_zero(logits, keep)
        ballot = v.vote(logits, keep=keep)
        assert (int(ballot.winner), ballot.tie_break) == (winner, rule)
        assert ballot.votes.sum() == sum(counts.values())
        ties += rule is not None
    assert ties > 300


@given(logit_arrays, keeps, st.randoms(use_true_random=False))
def test_view_order_does_not_matter_outside_equal_entropies(logits, keep, random):
    assume(distinct_entropies(logits))
    shuffled = list(range(len(logits)))
    random.shuffle(shuffled)
    a, b = v.vote(logits, keep=keep), v.vote(logits[shuffled], keep=keep)
    assert a.votes.tolist() == b.votes.tolist()
    assert int(a.winner) == int(b.winner)


@given(logit_arrays, keeps, st.integers(-50, 50), st.data())
def test_adding_a_constant_to_a_row_changes_nothing(logits, keep, constant, data):
    moved = logits.copy()
    moved[data.draw(st.integers(0, len(logits) - 1))] += constant
    a, b = v.vote(logits, keep=keep), v.vote(moved, keep=keep)
    assert a.votes.tolist() == b.votes.tolist()
    assert int(a.winner) == int(b.winner)
    np.testing.assert_array_equal(a.entropy, b.entropy)


@given(logit_arrays, keeps, st.data())
def test_relabelling_classes_permutes_the_votes(logits, keep, data):
    permutation = data.draw(st.permutations(range(logits.shape[1])))
    assume(distinct_entropies(logits))
    assume(all(len(set(row)) == len(row) for row in logits.tolist()))  # argmax takes the first of equal logits
    a, b = v.vote(logits, keep=keep), v.vote(logits[:, permutation], keep=keep)
    assert a.votes[permutation].tolist() == b.votes.tolist()
    assert int(a.winner) == permutation[int(b.winner)]


@settings(deadline=None)
@given(st.integers(0, 10_000), keeps, st.sampled_from(v.TIE_RULES), st.sampled_from(v.ZERO_TEMPERATURES))
def test_batched_equals_one_by_one(seed, keep, rule, temperature):
    rng = np.random.default_rng(seed)
    logits = rng.integers(-3, 4, (int(rng.integers(1, 6)), int(rng.integers(1, 12)), int(rng.integers(1, 5))))
    draws = rng.random(len(logits))
    batch = v.vote(logits, keep=keep, tie=rule, zero_temperature=temperature, logit_scale=20, tie_draws=draws)
    for i, one in enumerate(logits):
        single = v.vote(one, keep=keep, tie=rule, zero_temperature=temperature, logit_scale=20, tie_draws=draws[i])
        for field in vars(single):
            np.testing.assert_array_equal(getattr(batch[i], field), getattr(single, field), err_msg=field)


def test_a_single_ballot_cannot_be_indexed():
    ballot = v.vote(np.zeros((3, 2)))
    assert len(ballot) == 1
    with pytest.raises(UsageError, match="one image"):
        ballot[0]
