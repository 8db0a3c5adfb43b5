"""A table with paths that no file can have: each is that image's error, and the run is complete."""

import json
import logging
import os
from pathlib import Path

import pytest

from tests.images.pictures import encoded, picture
from viewvote.runs import RunSpec, run

PATHS = {"nul": "one/\0cat.png", "surrogate": "a\ud800b.png", "long": "a" * 5000, "pipe": "pipe.png"}


@pytest.mark.parametrize("kind", PATHS)
def test_the_other_images_have_their_records(tmp_path, kind, monkeypatch):
    # What pytest captures of a log goes to another process as UTF-8, which such a name has none of.
    monkeypatch.setattr(logging.getLogger("viewvote"), "propagate", False)
    (tmp_path / "good.png").write_bytes(encoded(picture()))
    os.mkfifo(tmp_path / "pipe.png")
    rows = [{"path": PATHS[kind], "label": "green"}, {"path": "good.png", "label": "red"}]
    (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, rows)))
    summary = run(RunSpec(dataset=str(tmp_path / "t.jsonl"), model="toy", views=4), out=tmp_path / "runs")
    records = [json.loads(line) for line in (Path(summary.path) / "records.jsonl").read_text().splitlines()]
    found = {record["key"]: record for record in records}
    assert found[PATHS[kind]]["error"].startswith("cannot read ")
    assert len(found[PATHS[kind]]["error"]) < 500
    assert found["good.png"]["error"] is None
    assert (summary.n, summary.errors) == (2, 1)


def test_runs_may_lie_in_a_folder_whose_name_is_no_text(tmp_path, monkeypatch):
    monkeypatch.setattr(logging.getLogger("viewvote"), "propagate", False)
    (tmp_path / "good.png").write_bytes(encoded(picture()))
    (tmp_path / "t.jsonl").write_text(json.dumps({"path": "good.png", "label": "red"}))
    place = tmp_path / os.fsdecode(b"runs\xff")
    summary = run(RunSpec(dataset=str(tmp_path / "t.jsonl"), model="toy", views=4), out=place)
    stored = json.loads((Path(summary.path) / "summary.json").read_text(encoding="utf-8"))
    assert stored["path"] == str(summary.path)
