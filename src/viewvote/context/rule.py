"""How much of a folder's pull is taken off: the rule for the mix, chosen by leaving sets out (docs/context.md)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import Float32, Float64
from ..errors import UsageError
from .base import Estimator
from .mix import effective_labels, expected_labels
from .pull import leak_pull, mean_pull, softmax, transport_pull

VARIED = "varied"
"""The mix of a user who knows that no label fills the folder."""

LEAST_PHOTOS = 8
"""Fewer show nothing."""

DOUBT = 40
"""The pull of n photos is taken off by n / (n + 40) where the folder is varied: of few it is half chance."""

REST = 0.3
"""The part of what then still parts the mean probabilities from a balanced mix that counts as pull too."""

MEAN_SHARE = 0.5
"""The part of the mean logits that is taken off where the user says that the folder is varied."""

UNIFORM, FULL = 0.8, 0.9
"""A folder that shows less than this part of the labels that as many varied photos would show is too uniform; from the
other on it is varied. Between them the share grows evenly."""


@dataclass(frozen=True)
class Estimate:
    """What to take off the logits of labels (labels,), and why; the fields are those of `Context`."""

    offsets: Float32
    n: int
    effective: float
    share: float
    estimator: Estimator
    note: str | None = None


def estimate(logits: Float32, *, mix: Sequence[float] | str | None = None) -> Estimate:
    """What to take off, from the source views' logits (images, labels) of unlabelled photos.

    Args:
        logits: at the model's own scale; another order of the images may change the last bits (`LogitSample` has one).
        mix: None for a folder of which nothing is known, "varied" where no label fills it, or shares per label.
    """
    n, n_labels = logits.shape
    if n < LEAST_PHOTOS or n_labels < 2:
        why = f"{n} photos are too few; {LEAST_PHOTOS} are needed" if n_labels > 1 else "there is one label only"
        return Estimate(np.zeros(n_labels, dtype=np.float32), n, min(n, 1.0), 0.0, "leaks", f"context: {why}; not used")
    rows = logits.astype(np.float64)
    leaked = leak_pull(rows)
    left = rows - leaked
    effective = effective_labels(softmax(left).mean(axis=0))
    if mix is None:
        balanced = transport_pull(left, np.ones(n_labels))
        return _by_rule(leaked + REST * balanced, n=n, effective=effective)
    if isinstance(mix, str):
        if mix != VARIED:
            raise UsageError(f"the mix is {VARIED!r} or a share for each label; got {mix!r}.")
        return Estimate(_single(MEAN_SHARE * mean_pull(rows)), n, effective, MEAN_SHARE, "mean")
    return Estimate(_single(transport_pull(rows, checked_shares(mix, n_labels))), n, effective, 1.0, "transport")


def checked_shares(shares: Sequence[float], n_labels: int) -> Float64:
    """Shares of labels, which need not sum to 1; UsageError unless there is one for each label."""
    found = np.asarray(shares, dtype=np.float64)
    if found.shape != (n_labels,) or not np.isfinite(found).all() or (found < 0).any() or not found.any():
        raise UsageError(f"a mix is a share of at least 0 for each of the {n_labels} labels, not all 0; got {shares}.")
    return found


def _by_rule(pull: Float64, *, n: int, effective: float) -> Estimate:
    """The estimate for a folder of which nothing is known."""
    n_labels = len(pull)
    shown = effective / expected_labels(n, n_labels)
    varied = min(1.0, max(0.0, (shown - UNIFORM) / (FULL - UNIFORM)))
    note = None
    if varied < 1:
        verb = "not used" if varied == 0 else f"{varied:.0%} of it used"
        note = f"context: {effective:.0f} of {n_labels} labels fill this folder; {verb}"
    share = varied * n / (n + DOUBT)
    return Estimate(_single(share * pull), n, effective, share, "leaks", note)


def _single(offsets: Float64) -> Float32:
    return offsets.astype(np.float32)
