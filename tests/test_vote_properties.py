"""The vote against a naive loop oracle, and the properties it must have."""

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from viewvote import vote as v


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
    assert (ballot.winner, ballot.tie_break) == (winner, rule)
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
        assert (ballot.winner, ballot.tie_break) == (winner, rule)
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
    assert a.winner == b.winner


@given(logit_arrays, keeps, st.integers(-50, 50), st.data())
def test_adding_a_constant_to_a_row_changes_nothing(logits, keep, constant, data):
    moved = logits.copy()
    moved[data.draw(st.integers(0, len(logits) - 1))] += constant
    a, b = v.vote(logits, keep=keep), v.vote(moved, keep=keep)
    assert a.votes.tolist() == b.votes.tolist()
    assert a.winner == b.winner
    np.testing.assert_array_equal(a.views.entropy, b.views.entropy)


@given(logit_arrays, keeps, st.data())
def test_relabelling_classes_permutes_the_votes(logits, keep, data):
    permutation = data.draw(st.permutations(range(logits.shape[1])))
    assume(distinct_entropies(logits))
    assume(all(len(set(row)) == len(row) for row in logits.tolist()))  # argmax takes the first of equal logits
    a, b = v.vote(logits, keep=keep), v.vote(logits[:, permutation], keep=keep)
    assert a.votes[permutation].tolist() == b.votes.tolist()
    assert a.winner == permutation[b.winner]
