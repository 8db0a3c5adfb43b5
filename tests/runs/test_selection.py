"""Which samples a run takes, and in which order."""

from pathlib import Path

import pytest

from viewvote.datasets import ImageFiles
from viewvote.runs.selection import Selection


def numbers(n):
    keys = tuple(f"{i:03}.png" for i in range(n))
    return ImageFiles("numbers", folder=Path(), keys=keys, targets=(0,) * n, class_names=("x",))


def keys(selection):
    found = list(selection.keys)
    assert [item.key for item in selection.items(range(len(selection)))] == found
    return found


@pytest.mark.parametrize(
    ("n", "limit", "taken"),
    [
        (10, 5, [0, 2, 4, 6, 8]),
        (10, 3, [0, 3, 6]),
        (7, 1, [0]),
        (3, 3, [0, 1, 2]),
        (3, 9, [0, 1, 2]),
        (3, None, [0, 1, 2]),
    ],
)
def test_a_limit_takes_evenly_spaced_samples(n, limit, taken):
    selection = Selection(numbers(n), limit=limit)
    assert keys(selection) == [f"{i:03}.png" for i in taken]
    assert len(selection) == len(taken)
    assert selection.is_subset == (len(taken) < n)


def test_every_limit_takes_as_many_as_it_says():
    for n in range(1, 30):
        for limit in range(1, 30):
            assert len(keys(Selection(numbers(n), limit=limit))) == min(n, limit)


def test_shuffling_depends_on_the_seed_and_loses_nothing():
    whole = numbers(50)
    first = keys(Selection(whole, shuffled=True))
    assert first == keys(Selection(whole, shuffled=True))
    assert first != sorted(first)
    assert sorted(first) == list(whole.keys)
    assert first != keys(Selection(whole, shuffled=True, seed=1))


def test_a_shuffled_subset_has_the_samples_of_the_subset():
    assert sorted(keys(Selection(numbers(50), limit=7, shuffled=True))) == keys(Selection(numbers(50), limit=7))
