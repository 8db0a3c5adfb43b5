"""Rates and their intervals, by hand."""

import numpy as np
import pytest

from tests.records.record_files import plain_record, write_records
from viewvote.metrics.accuracy import macro_accuracy, over_seeds, pooled, top1, top5
from viewvote.rates import rate_of, wilson_interval
from viewvote.records.columns import read_columns
from viewvote.records.record import failed_record


def test_unusable_images_are_counted_beside_the_rate_not_in_it(tmp_path):
    records = [
        plain_record("a", target=1, index=1, top5=(1, 0)),
        plain_record("b", target=2, index=0, top5=(0, 2)),
        plain_record("c", target=3, index=0, top5=(0, 1)),
        failed_record(OSError("gone"), key="d", target=0),
    ]
    columns = read_columns(write_records(tmp_path / "records.jsonl", records))
    assert (top1(columns).value, top1(columns).n, top1(columns).errors) == (1 / 3, 3, 1)
    assert top5(columns).value == 2 / 3
    assert str(top1(columns)) == "33.33% [6.15%, 79.23%], n = 3, 1 unusable"


def test_macro_accuracy_weighs_every_class_the_same():
    target = np.array([0, 0, 0, 0, 2, 2, 5])
    correct = np.array([True, True, True, False, True, False, True])
    usable = np.array([True] * 6 + [False])
    rate = macro_accuracy(target, correct, usable)
    assert (rate.value, rate.n, rate.errors) == ((3 / 4 + 1 / 2) / 2, 6, 1)
    pooled_rate = (4 + 2) / (6 + 4)
    shrunk = [(3 + 4 * pooled_rate) / 8, (1 + 4 * pooled_rate) / 6]
    variances = [shrunk[0] * (1 - shrunk[0]) / 4, shrunk[1] * (1 - shrunk[1]) / 2]
    assert rate.value - rate.low == pytest.approx(1.959964 * np.sqrt(sum(variances)) / 2)


@pytest.mark.parametrize(("classes", "images"), [(196, 1), (100, 4), (10, 50)])
@pytest.mark.parametrize("truth", [0.1, 0.5, 0.9, 0.98])
def test_the_interval_of_macro_accuracy_holds_the_truth_19_times_in_20(classes, images, truth):
    rng = np.random.default_rng(0)
    target = np.repeat(np.arange(classes), images)
    usable = np.ones(len(target), dtype=bool)
    rates = [macro_accuracy(target, rng.random(len(target)) < truth, usable) for _ in range(1000)]
    assert 0.91 < np.mean([rate.low <= truth <= rate.high for rate in rates]) < 0.99


def test_macro_accuracy_is_not_certain_where_every_answer_is_right():
    everything = np.ones(20, dtype=bool)
    rate = macro_accuracy(np.arange(20), everything, everything)
    assert (rate.value, rate.high) == (1.0, 1.0)
    assert 0.8 < rate.low < 0.97


def test_without_a_usable_image_there_is_no_rate():
    nothing = np.zeros(2, dtype=bool)
    assert np.isnan(rate_of(nothing, nothing).value)
    assert rate_of(nothing, nothing).errors == 2
    assert np.isnan(macro_accuracy(np.zeros(2, dtype=np.int64), nothing, nothing).value)


def test_seeds_have_a_mean_and_a_sample_deviation():
    assert over_seeds([1.0, 2.0, 6.0]).mean == 3.0
    assert over_seeds([1.0, 2.0, 6.0]).std == pytest.approx(np.sqrt((4 + 1 + 9) / 2))
    assert over_seeds([0.5]).std is None


def test_seeds_do_not_multiply_the_images():
    one = rate_of(np.arange(100) < 50, np.ones(100, dtype=bool))
    other = rate_of(np.arange(100) < 60, np.ones(100, dtype=bool))
    both = pooled([one, other])
    assert (both.value, both.n) == (pytest.approx(0.55), 100)
    assert (both.low, both.high) == pytest.approx(((one.low + other.low) / 2, (one.high + other.high) / 2))
    assert (both.low, both.high) == pytest.approx(wilson_interval(55, 100), abs=1e-3)
