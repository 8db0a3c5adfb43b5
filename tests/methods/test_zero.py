"""ZERO against two oracles: the paper's Algorithm 1 with its appendix, and the authors' published code under fp16."""

import numpy as np
import pytest

from viewvote.errors import UnknownNameError, UsageError
from viewvote.methods import ViewLogits
from viewvote.methods.zero import Zero
from viewvote.vote import entropy_of, log_softmax


def paper_zero(logits, keep):
    """Algorithm 1 and the greedy rule of the appendix, in twenty lines."""
    entropy = [float(entropy_of(log_softmax(row))) for row in logits]
    order = sorted(range(len(logits)), key=lambda i: entropy[i])
    k = max(1, int(len(logits) * keep))
    votes = np.zeros(logits.shape[1], dtype=int)
    for i in order[:k]:
        votes[np.argmax(logits[i])] += 1
    tied = set(np.flatnonzero(votes == votes.max()))
    if len(tied) > 1:
        for i in order[k:] + order[:k]:
            if np.argmax(logits[i]) in tied:
                return int(np.argmax(logits[i]))
    return int(votes.argmax())


def authors_zero(logits, keep, scale):
    """What their code computes under fp16 autocast (zero-spec 1.2), with the last resort as it was meant."""
    cosines = (logits / np.float32(scale)).astype(np.float16)
    entropy = [float(entropy_of(log_softmax(row.astype(np.float32) * scale))) for row in cosines]
    order = sorted(range(len(logits)), key=lambda i: entropy[i])
    k = max(1, int(len(logits) * keep))
    p_bar = np.zeros(logits.shape[1], dtype=np.float32)
    for i in order[:k]:
        sharp = cosines[i].astype(np.float32) / np.float32(np.finfo(np.float16).eps)
        e = np.exp(sharp - sharp.max())
        p_bar += e / e.sum()
    tied = np.flatnonzero(p_bar == p_bar.max())
    if len(tied) == 1:
        return int(tied[0])
    for i in order[k:]:
        if np.argmax(cosines[i]) in tied:
            return int(np.argmax(cosines[i]))
    return int(tied[np.argmax(cosines[order[k]][tied])])


def cases(n, *, coarse):
    rng = np.random.default_rng(0)
    for _ in range(n):
        shape = int(rng.integers(4, 30)), int(rng.integers(2, 6))
        cosines = rng.integers(-4, 5, shape) / 16 if coarse else rng.normal(0.2, 0.05, shape)
        yield (100 * cosines).astype(np.float32)


@pytest.mark.parametrize("coarse", [True, False])
@pytest.mark.parametrize("keep", [0.1, 0.3, 1.0])
def test_zero_agrees_with_the_paper(coarse, keep):
    for logits in cases(300, coarse=coarse):
        decision = Zero(keep=keep).decide(ViewLogits(logits, logit_scale=100))
        assert decision.index == paper_zero(logits, keep)


@pytest.mark.parametrize("coarse", [True, False])
@pytest.mark.parametrize("keep", [0.1, 0.3])
def test_compat_agrees_with_the_authors_code(coarse, keep):
    for logits in cases(300, coarse=coarse):
        decision = Zero(keep=keep, compat="paper").decide(ViewLogits(logits, logit_scale=100))
        assert decision.index == authors_zero(logits, keep, 100)


def test_compat_ranks_by_rounded_cosines():
    # cosines whose steps fp16 does not see (2^-13 between 1/8 and 1/4): the second view is the more confident one, but
    # after rounding the two are equally so, and the first comes first
    cosines = np.array([[0.2, 0.1], [0.1, 0.20001]], dtype=np.float32)
    views = ViewLogits(100 * cosines, logit_scale=100)
    assert Zero(keep=0.5, zero_temperature="eps-fp16").decide(views).index == 1
    assert Zero(keep=0.5, compat="paper").decide(views).index == 0


def test_the_two_differ_where_a_lead_is_worth_less_than_a_vote():
    # two views lead by a hair for class 0, one by far for class 1: two votes to one, but 1.47 soft votes to 1.53
    cosines = np.array([[0.126, 0.125], [0.126, 0.125], [0.1, 0.2]], dtype=np.float32)
    views = ViewLogits(100 * cosines, logit_scale=100)
    assert Zero(keep=1.0).decide(views).index == 0
    assert Zero(keep=1.0, compat="paper").decide(views).index == 1


def test_the_last_resort_is_the_next_views_largest_tied_logit():
    # 0 and 1 tie exactly among the kept; both discarded views say 2, and the first of them prefers 1 to 0
    cosines = np.array([[1, 0, 0], [0, 1, 0], [0, 0.25, 0.5], [0.3, 0, 0.4]], dtype=np.float32)
    views = ViewLogits(100 * cosines, logit_scale=100)
    assert Zero(keep=0.5, compat="paper").decide(views).index == 1
    assert Zero(keep=0.5).decide(views).index == 0


@pytest.mark.parametrize("wrong", [{"keep": 0}, {"compat": "paper", "tie": "random"}])
def test_contradictions_are_errors(wrong):
    with pytest.raises(UsageError):
        Zero(**wrong)


def test_an_unknown_rule_or_temperature_is_an_error_at_once():
    with pytest.raises(UnknownNameError, match="Did you mean 'greedy'"):
        Zero(tie="greedi")
    with pytest.raises(UnknownNameError, match="Did you mean 'eps-fp16'"):
        Zero(zero_temperature="eps-f16")


def test_an_unknown_compat_is_an_error():
    with pytest.raises(UnknownNameError, match="paper"):
        Zero(compat="papre")


def test_a_teachers_soft_votes_are_at_the_teachers_own_scale():
    """A lead of 0.001 earns 0.74 of a vote (zero-spec D2), whatever the scale and bias of the student are."""
    student = np.array([[9.0, 0.0], [1.0, 0.0]], dtype=np.float32)
    teacher = np.array([[100 * 0.126 - 10, 100 * 0.125 - 10]], dtype=np.float32)
    views = ViewLogits(
        student, logit_scale=29.5, logit_bias=3.0, teacher=lambda _: teacher, teacher_scale=100.0, teacher_bias=-10.0
    )
    for method in (Zero(keep=0.5, zero_temperature="eps-fp16"), Zero(keep=0.5, compat="paper")):
        decision = method.decide(views)
        assert decision.votes == pytest.approx([0.74, 0.26], abs=0.02)
