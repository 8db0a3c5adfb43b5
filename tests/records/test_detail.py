"""What studies need beyond votes: recorded on request only, and then from the same pass."""

from pathlib import Path

import numpy as np
import pytest

from tests.runs.colour_runs import colour_folder, lines_of
from viewvote.errors import RecordError, UsageError
from viewvote.prediction import Box, Evidence, Trace, ViewTable
from viewvote.records.detail import detail_of, read_details
from viewvote.records.packing import unpack_floats
from viewvote.records.record import Record
from viewvote.runs import RunSpec, run

P = np.array([[0.5, 0.5], [0.1, 0.9], [0.75, 0.25]], dtype=np.float32)


def traced(probabilities=P, **marginals):
    none = np.zeros(0, dtype=np.float32)
    evidence = Evidence(np.arange(2), none, np.zeros(3), None, np.arange(2), 0.5, none, none, 0.5, probabilities)
    columns = np.zeros(3, dtype=np.int64), np.full(3, 0.1), np.full(3, 0.9), np.arange(3) > 0
    views = ViewTable(*columns, tuple(Box(i, 0, 10, 20) for i in range(3)), (False,) * 3, ("a", "b"))
    return Trace(views, evidence=evidence, **marginals)


def test_the_arrays_by_hand():
    found = {name: unpack_floats(text) for name, text in detail_of(traced(), target=1).packed.items()}
    assert found["source"] == pytest.approx([0.5, 0.5])
    assert found["kept"] == pytest.approx([0.425, 0.575])
    assert found["every"] == pytest.approx([0.45, 0.55])
    assert found["target"] == pytest.approx([0.5, 0.9, 0.25])
    assert found["square"] == pytest.approx([0.5, 0.82, 0.625])
    assert found["boxes"].reshape(3, 4)[2].tolist() == [2, 0, 10, 20]


def test_nothing_asked_for_is_no_detail_and_p_bar_around_tuning_needs_no_probabilities():
    assert detail_of(traced(None), target=0) is None
    before, after = np.float32([0.6, 0.4]), np.float32([0.9, 0.1])
    found = detail_of(traced(None, marginal_before=before, marginal_after=after), target=0)
    assert {name: unpack_floats(text).tolist() for name, text in found.packed.items()} == {
        "before": before.tolist(),
        "after": after.tolist(),
    }


def test_a_line_has_a_detail_only_where_there_is_one_and_both_kinds_are_read_back():
    plain = Record(key="k", target=1, index=1)
    assert "detail" not in plain.to_line()
    detailed = Record(key="k", target=1, index=1, detail=detail_of(traced(), target=1))
    for record in (plain, detailed):
        assert Record.from_line(record.to_line()) == record


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    place = tmp_path_factory.mktemp("runs")
    spec = RunSpec(str(colour_folder(place / "colours", each=2)), model="toy", views=8)
    plain = run(spec, out=place / "out")
    detailed = run(RunSpec(spec.dataset, model="toy", views=8, detail=True), out=place / "out")
    return plain, detailed


def test_a_run_with_details_has_the_same_records_besides(runs):
    def bare(line):
        start = line.find(',"detail":')
        return line if start < 0 else line[:start] + line[line.index("}", start) + 1 :]

    plain, detailed = map(lines_of, runs)
    assert all(',"detail":{' in line for line in detailed)
    assert [bare(line) for line in detailed] == plain


def test_details_are_read_one_sample_at_a_time(runs):
    found = list(read_details(folder(runs[1]), ["source", "boxes", "every"]))
    assert len(found) == 6
    assert all(one.arrays["source"].sum() == pytest.approx(1, abs=1e-5) for one in found)
    assert all(len(one.labels) == 8 and one.arrays["boxes"].shape == (32,) for one in found)


def folder(summary):
    return Path(summary.path) / "records.jsonl"


def test_records_without_them_are_refused_with_the_command_that_records_them(runs):
    with pytest.raises(UsageError, match=r"eval \.\.\. --detail"):
        list(read_details(folder(runs[0]), ["source"]))
    with pytest.raises(UsageError, match="record_marginal=True"):
        list(read_details(folder(runs[1]), ["before"]))


def test_damaged_files_are_an_error_with_the_line(tmp_path):
    (tmp_path / "records.jsonl").write_text("[]\n")
    with pytest.raises(RecordError, match="line 1"):
        list(read_details(tmp_path / "records.jsonl", ["source"]))
    with pytest.raises(RecordError, match="cannot read"):
        list(read_details(tmp_path / "nothing.jsonl", ["source"]))
