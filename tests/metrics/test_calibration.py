"""Reliability bins and both calibration errors, by hand and by a naive loop."""

import numpy as np
import pytest

from tests.records.record_files import draw_logits, voted_record, write_records
from viewvote.errors import UsageError
from viewvote.metrics.calibration import ece_interval, kept_confidence, reliability, source_confidence
from viewvote.records.columns import read_columns
from viewvote.records.record import failed_record
from viewvote.vote import vote


def test_both_errors_by_hand():
    # [0, .5) holds 0.2 wrong, 0.4 right: acc .5, conf .3. [.5, 1] holds 0.9, 1.0, 0.8 right, 0.7 wrong: .75, .85.
    bins = reliability([0.2, 0.4, 0.9, 1.0, 0.8, 0.7], [0, 1, 1, 1, 1, 0], bins=2)
    assert bins.count.tolist() == [2, 4]
    assert bins.accuracy.tolist() == [0.5, 0.75]
    assert bins.ece == pytest.approx((2 * 0.2 + 4 * 0.1) / 6)
    assert bins.ece_paper == pytest.approx((0.2 + 0.1) / 2)


def test_a_confidence_of_one_is_in_the_last_bin_and_an_edge_in_the_upper():
    bins = reliability(np.float32([1.0, 0.35, 0.0, 0.05]), [1, 0, 0, 1], bins=20)
    assert np.flatnonzero(bins.count).tolist() == [0, 1, 7, 19]
    assert reliability([1.0, 1.0], [1, 1]).ece == 0.0
    assert reliability([1.0, 1.0], [1, 1]).ece_paper == 0.0
    assert reliability([1.0, 1.0], [1, 0]).ece == 0.5


def test_empty_bins_add_nothing_but_count_in_the_papers_mean():
    bins = reliability([1.0, 1.0], [1, 0], bins=20)
    assert bins.ece_paper == pytest.approx(0.5 / 20)
    assert np.isnan(bins.accuracy[:19]).all()
    assert np.isnan(reliability([], []).ece)
    assert np.isnan(reliability([], []).ece_paper)


@pytest.mark.parametrize("m", [1, 10, 15, 20])
def test_a_naive_loop_agrees(m):
    rng = np.random.default_rng(m)
    sure, right = rng.random(500), rng.random(500) < 0.6
    weighted = plain = 0.0
    for b in range(m):
        inside = (sure >= b / m) & (sure < (b + 1) / m)
        if inside.any():
            gap = abs(right[inside].mean() - sure[inside].mean())
            weighted += inside.sum() / 500 * gap
            plain += gap / m
    bins = reliability(sure, right, bins=m)
    assert bins.ece == pytest.approx(weighted, abs=1e-6)
    assert bins.ece_paper == pytest.approx(plain, abs=1e-6)


@pytest.mark.parametrize("bad", [[1.01], [-0.1], [np.nan]])
def test_what_is_no_confidence_is_refused(bad):
    with pytest.raises(UsageError, match="between 0 and 1"):
        reliability(bad, [1])
    with pytest.raises(UsageError, match="bins"):
        reliability([0.5], [1], bins=0)


def test_source_and_kept_views_are_the_two_datasets_of_the_paper(tmp_path):
    rng = np.random.default_rng(3)
    logits, teacher = [draw_logits(rng) for _ in range(4)], draw_logits(rng)
    records = [voted_record(one, key=str(i), target=i, keep=0.25) for i, one in enumerate(logits)]
    records += [voted_record(logits[0], key="cascade", target=1, keep=0.25, teacher=teacher)]
    records += [failed_record(OSError("gone"), key="gone", target=0)]
    columns = read_columns(write_records(tmp_path / "records.jsonl", records))

    sure, right = source_confidence(columns)
    expected = [np.exp(one[0]).max() / np.exp(one[0]).sum() for one in [*logits, logits[0]]]
    assert sure == pytest.approx(expected, rel=1e-5)
    assert right.tolist() == [
        one[0].argmax() == t for one, t in zip([*logits, logits[0]], [0, 1, 2, 3, 1], strict=True)
    ]

    sure, right = kept_confidence(columns)
    expected, hits = [], []
    for i, one in enumerate([*logits, logits[0]]):
        kept = sorted(vote(one, keep=0.25).order[:3])
        rows = (teacher if i == 4 else one)[kept]
        expected += (np.exp(rows).max(axis=1) / np.exp(rows).sum(axis=1)).tolist()
        hits += (rows.argmax(axis=1) == [0, 1, 2, 3, 1][i]).tolist()
    assert sure == pytest.approx(expected, rel=1e-5)
    assert right.tolist() == hits


def test_the_interval_of_an_ece_is_the_spread_of_naive_draws_about_it():
    rng = np.random.default_rng(3)
    sure = rng.random((60, 4))
    right = rng.random((60, 4)) < sure**2
    low, high = ece_interval(sure, right, bins=5, rng=np.random.default_rng(0))
    chosen = [np.random.default_rng(7 + i).integers(0, 60, 60) for i in range(1000)]
    draws = [reliability(sure[each].ravel(), right[each].ravel(), bins=5).ece for each in chosen]
    found = reliability(sure.ravel(), right.ravel(), bins=5).ece
    expected = found + np.quantile(draws, [0.025, 0.975]) - np.mean(draws)
    assert (low, high) == pytest.approx(tuple(expected), abs=0.01)
    assert low < found < high


def test_more_images_narrow_it_and_more_views_of_the_same_answer_do_not():
    rng = np.random.default_rng(4)
    sure = rng.random((400, 1))
    right = rng.random((400, 1)) < sure / 2

    def width(images, views=1):
        part = (np.repeat(each[:images], views, axis=1) for each in (sure, right))
        low, high = ece_interval(*part, bins=5, rng=np.random.default_rng(0))
        return high - low

    assert width(400) < 0.7 * width(100)
    assert width(100, views=6) == pytest.approx(width(100))


def test_one_image_has_no_interval():
    assert np.isnan(ece_interval([[0.5, 0.6]], [[1, 0]], bins=5, rng=np.random.default_rng(0))).all()
