"""Corrections as their authors run them: against loops that follow the papers' code step by step."""

import numpy as np
import pytest

from tests.context.test_pull import folder
from viewvote.context.published import PUBLISHED, dn_offsets, frolic_offsets


def test_dn_takes_off_a_quarter_of_the_mean():
    assert dn_offsets(np.array([[4.0, 0.0], [0.0, 0.0]])) == pytest.approx([0.25, -0.25])


def naive_frolic(logits):
    n_labels = logits.shape[1]
    left = [list(row) for row in logits]
    kept = left
    for _ in range(11):
        sure = [row for row in kept if sorted(row)[-1] - sorted(row)[-2] > 1 / n_labels]
        groups = {label: [row for row in sure if int(np.argmax(row)) == label] for label in range(n_labels)}
        steps = np.zeros((n_labels, n_labels))
        for label, rows in groups.items():
            for row in rows:
                steps[:, label] += np.exp(row) / np.exp(row).sum() / len(rows)
        place = np.full(n_labels, 1 / n_labels)
        for _ in range(100):
            reached = steps @ place / (steps @ place).sum()
            if np.abs(reached - place).sum() < 1e-3:
                break
            place = reached
        left = kept = [list(np.array(row) - np.log(place + 1e-12)) for row in left]
    return logits[0] - np.array(left[0])


@pytest.mark.parametrize("counts", [[20, 20, 20], [30, 10, 0]])
def test_frolic_is_the_loop_of_its_authors(counts):
    logits = folder(counts, bias=[1, 0, 0])
    assert frolic_offsets(logits) == pytest.approx(naive_frolic(logits), abs=1e-6)


def test_frolic_has_nothing_to_go_by_where_no_photo_is_sure():
    assert not frolic_offsets(np.zeros((5, 3))).any()


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_label_that_attracts_loses(name):
    assert PUBLISHED[name](folder([40] * 4, bias=[1.0, 0, 0, 0])).argmax() == 0
