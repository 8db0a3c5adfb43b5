"""The loss of the text side: against sums written out, and by hand where a case is plain."""

import math

import numpy as np
import pytest

pytest.importorskip("torch")
import torch

from training.clip_b16.losses import contrastive, soft_cross_entropy, structure

ALL = torch.ones(8, 8, dtype=torch.bool)


def written_out(logits, holds):
    """One way of the contrastive loss, entry by entry."""
    total = 0.0
    for row, true in zip(logits, holds, strict=True):
        log_sum = math.log(sum(math.exp(x) for x in row))
        total -= sum((x - log_sum) / sum(true) for x, t in zip(row, true, strict=True) if t)
    return total / len(logits)


def test_a_text_that_nothing_tells_apart_costs_the_logarithm_of_their_number():
    assert contrastive(torch.zeros(8, 8), torch.eye(8), ALL[:8, :8]).item() == pytest.approx(math.log(8))


def test_texts_that_hold_for_several_views_share():
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(5, 5)) * 3
    holds = np.eye(5, dtype=bool)
    holds[0, 3] = holds[3, 0] = holds[4, 1] = True
    found = contrastive(torch.from_numpy(logits), torch.from_numpy(holds).double(), ALL[:5, :5]).item()
    assert found == pytest.approx((written_out(logits, holds) + written_out(logits.T, holds.T)) / 2)


def test_pairs_of_which_nothing_is_known_take_no_part():
    rng = np.random.default_rng(1)
    logits, holds = torch.from_numpy(rng.normal(size=(6, 6))).requires_grad_(), torch.eye(6).double()
    kind = torch.tensor([True, True, False, False, False, True])
    found = contrastive(logits, holds, kind[:, None] == kind)
    parts = [contrastive(logits[k][:, k], holds[k][:, k], ALL[:3, :3]) for k in (kind, ~kind)]
    assert found.item() == pytest.approx(sum(part.item() for part in parts) / 2)
    found.backward()
    assert (logits.grad[kind[:, None] != kind] == 0).all()
    assert (logits.grad[kind[:, None] == kind] != 0).all()


def test_the_right_pairs_cost_less_than_the_wrong_ones():
    pairs = torch.eye(4)
    assert contrastive(10 * pairs, pairs, ALL[:4, :4]).item() < 1e-3
    assert contrastive(10 * pairs.roll(1, 0), pairs, ALL[:4, :4]).item() > 9


def test_cross_entropy_of_shares_is_least_at_the_shares():
    shares = torch.tensor([[0.5, 0.3, 0.2]])
    least = soft_cross_entropy(shares.log(), shares).item()
    assert least == pytest.approx(-sum(p * math.log(p) for p in (0.5, 0.3, 0.2)))
    assert soft_cross_entropy(torch.zeros(1, 3), shares).item() > least


def test_structure_ignores_turns_and_shifts_and_sees_other_neighbours():
    wanted = torch.nn.functional.normalize(torch.tensor([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]]), dim=1)
    turn = torch.tensor([[0.6, 0.8], [-0.8, 0.6]])
    centred = torch.tensor([[1.0, 0.0], [-0.5, 0.75**0.5], [-0.5, -(0.75**0.5)]])  # their mean is the origin
    assert structure(centred @ turn + 5, centred).item() == pytest.approx(0, abs=1e-6)
    two_cosines = [(math.cos(math.pi * 2 / 3) - c) ** 2 for c in (0.0, -(0.5**0.5), -(0.5**0.5))]
    assert structure(centred, wanted).item() == pytest.approx(2 * sum(two_cosines) / 9)
