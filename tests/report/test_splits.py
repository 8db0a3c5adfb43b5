"""What a run over a catalog dataset that is not its official split is called."""

import json

import pytest

from tests.report.run_folders import answers, write_run
from viewvote.runs.read import load_run


@pytest.mark.parametrize(
    ("change", "split"),
    [
        ({"split_size": None}, "no official split"),
        ({"split_size": 7500}, "incomplete: 40 of 7,500"),
        ({"split_size": 40, "errors": 12}, "incomplete: 28 of 40"),
        ({"split_size": 40}, "not the official split"),
        ({"split_size": 7500, "subset": True}, "subset"),
    ],
)
def test_a_catalog_dataset_that_is_not_all_there_is_called_incomplete(tmp_path, change, split):
    folder = write_run(tmp_path / "a", answers(30, 10), official=False)
    told = json.loads((folder / "summary.json").read_text())
    (folder / "summary.json").write_text(json.dumps({**told, "errors": 0, **change}))
    assert load_run(folder).split == split
