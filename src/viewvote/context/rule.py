"""How much of a folder's pull is taken off: the rule for the mix, chosen by leaving sets out."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import Float32, Float64
from ..errors import UsageError
from .base import Estimator
from .mix import expected_labels, variety
from .pull import level_pull, mean_pull, transport_pull

VARIED = "varied"
"""The mix of a user who knows that no label fills the folder."""

LEAST_PHOTOS = 8
"""Fewer show nothing."""

SHARE = 0.5
"""The part of the levels' pull that is taken off a varied folder of very many photos."""

DOUBT = 2
"""The pull of so many photos a label is half chance, and half of it is taken off."""

UNIFORM, FULL = 0.55, 0.75
"""A folder of less than this variety is too uniform; from the other on it is varied. Between them the part of its pull
that is taken off grows evenly."""

REST = 0.5
"""The part of what then still parts the mean probabilities from a balanced mix that is taken off a balanced folder."""

UNEVEN, BALANCED = 0.85, 1.0
"""As UNIFORM and FULL, for the rest: it depends on the mix, so it is taken off where that is nearly even."""

MEAN_SHARE = 0.5
"""The part of the mean logits that is taken off where the user says that the folder is varied."""


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
        return Estimate(
            np.zeros(n_labels, dtype=np.float32), n, min(n, 1.0), 0.0, "levels", f"context: {why}; not used"
        )
    rows = logits.astype(np.float64)
    varied = variety(rows)
    effective = min(n_labels, expected_labels(n, n_labels) ** varied)
    if mix is None:
        return _by_rule(rows, varied=varied, effective=effective)
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


def _by_rule(rows: Float64, *, varied: float, effective: float) -> Estimate:
    """The estimate for a folder of which nothing is known."""
    n, n_labels = rows.shape
    used, note = _between(varied, UNIFORM, FULL), None
    if used < 1:
        verb = "not used" if used == 0 else f"{used:.0%} of it used"
        note = f"context: {effective:.0f} of {n_labels} labels fill this folder; {verb}"
    if used == 0:
        return _nothing(n_labels, n, effective, note)
    known = n / (n + DOUBT * n_labels)
    pull = SHARE * level_pull(rows)
    offsets = used * pull
    rest = _between(varied, UNEVEN, BALANCED)
    if rest:
        offsets = offsets + rest * REST * transport_pull(rows - pull, np.ones(n_labels))
    return Estimate(_single(known * offsets), n, effective, known * used * SHARE, "levels", note)


def _nothing(n_labels: int, n: int, effective: float, note: str | None) -> Estimate:
    return Estimate(np.zeros(n_labels, dtype=np.float32), n, effective, 0.0, "levels", note)


def _between(value: float, low: float, high: float) -> float:
    """0 up to `low`, 1 from `high` on, and evenly growing between them."""
    return min(1.0, max(0.0, (value - low) / (high - low)))


def _single(offsets: Float64) -> Float32:
    return offsets.astype(np.float32)
