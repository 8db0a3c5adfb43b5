"""The terms of the loss by which the text side is tuned."""

from __future__ import annotations

from torch import Tensor
from torch.nn.functional import log_softmax, normalize

UNLIKELY = -1e4  # a logit without weight in the softmax, and finite, so that nothing becomes 0 x infinity


def soft_cross_entropy(logits: Tensor, truth: Tensor) -> Tensor:
    """Mean cross-entropy against rows of shares."""
    return -(truth * log_softmax(logits, dim=1)).sum(1).mean()


def contrastive(logits: Tensor, holds: Tensor, known: Tensor) -> Tensor:
    """The loss of a batch (views, texts), both ways; where several texts hold, they share.

    Pairs of which it is not known whether they hold are left out: a label text may be true of a captioned photograph.
    """
    logits = logits.masked_fill(~known, UNLIKELY)
    ways = ((logits, holds), (logits.T, holds.T))
    rows, columns = (soft_cross_entropy(x, t / t.sum(1, keepdim=True)) for x, t in ways)
    return (rows + columns) / 2


def structure(found: Tensor, wanted: Tensor) -> Tensor:
    """Mean squared difference of the cosines among names, either side centred."""
    centred = normalize(found - found.mean(0), dim=1)
    return (centred @ centred.T - wanted @ wanted.T).square().mean()
