"""Seconds per image, by hand."""

from dataclasses import replace

import pytest

from tests.records.record_files import plain_record, write_records
from viewvote.metrics.cost import cost_of
from viewvote.records.columns import read_columns
from viewvote.records.record import failed_record


def test_stages_are_averaged_over_the_images_that_were_timed(tmp_path):
    records = [
        replace(plain_record(str(t), target=0, index=0), timings={"encode": t, "decide": 1.0, "total": t + 1})
        for t in (1.0, 2.0, 6.0)
    ]
    records.append(failed_record(OSError("gone"), key="gone", target=0))
    cost = cost_of(read_columns(write_records(tmp_path / "records.jsonl", records)))
    assert cost.mean["encode"] == 3.0
    assert cost.mean["total"] == 4.0
    assert "read" not in cost.mean  # no record has it
    assert (cost.median, cost.n) == (3.0, 3)
    assert cost.p95 == pytest.approx(3 + 0.9 * 4)


def test_records_without_timings_have_no_cost(tmp_path):
    records = [failed_record(OSError("gone"), key="gone", target=0)]
    assert cost_of(read_columns(write_records(tmp_path / "records.jsonl", records))) is None
