"""The sample of logits: bounded, and the same whatever order photos come in."""

import numpy as np
import pytest

from viewvote.context import sample as samples
from viewvote.context.sample import LogitSample


def sample_of(rows):
    found = LogitSample()
    for row in rows:
        found.add(row)
    return found.rows()


@pytest.fixture
def rows():
    return np.random.default_rng(0).normal(size=(50, 4)).astype(np.float32)


def test_all_rows_are_there_in_an_order_of_their_own(rows):
    found = sample_of(rows)
    assert sorted(map(tuple, found.tolist())) == sorted(map(tuple, rows.tolist()))
    assert found.tobytes() == sample_of(rows[::-1]).tobytes()


def test_of_more_rows_than_fit_the_same_ones_stay_in_any_order(rows, monkeypatch):
    monkeypatch.setattr(samples, "MOST_PHOTOS", 7)
    found = sample_of(rows)
    assert len(found) == 7
    assert found.tobytes() == sample_of(rows[np.random.default_rng(1).permutation(50)]).tobytes()


def test_many_labels_leave_room_for_fewer_photos(rows, monkeypatch):
    monkeypatch.setattr(samples, "MOST_NUMBERS", 12)
    assert len(sample_of(rows)) == 3


def test_no_photo_is_no_row():
    assert len(LogitSample().rows()) == 0
