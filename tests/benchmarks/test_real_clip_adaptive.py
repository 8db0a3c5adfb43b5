"""Where adaptive views would stop on stored logits."""

import numpy as np
import pytest

pytest.importorskip("onnxruntime")
from benchmarks.real_clip_adaptive import Outcome, line, stopped
from viewvote.methods.zero import Zero
from viewvote.stopping import Confident

RULE = Confident(rounds=(4, 8, 16), thresholds=(1.0, 1.0), keep=0.3)


def logits(labels):
    """A confident view of each label."""
    return 9 * np.eye(3, dtype=np.float32)[labels]


def test_unanimous_views_stop_at_once_and_a_divided_start_looks_on():
    assert stopped(logits([1] * 16), RULE, 1, Zero()) == Outcome(4, same=True, right=True, full_right=True)
    assert stopped(logits([1, 2] * 8), RULE, 0, Zero()).views == 16


def test_an_answer_that_later_views_would_change_is_told():
    changed = logits([1] * 4 + [2] * 12)
    changed[4:] *= 2  # more confident than the first four
    assert stopped(changed, RULE, 2, Zero()) == Outcome(4, same=False, right=False, full_right=True)


def test_a_row_has_the_mean_of_views_and_shares_with_intervals():
    row = line("pets", [Outcome(4, True, True, True), Outcome(16, False, False, True)])
    assert row == "| pets | 2 | 10.0 | 50.0 (9.5-90.5) | 50.0 (9.5-90.5) | 100.0 (34.2-100.0) |"
