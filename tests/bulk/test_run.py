"""Tables made whole, continued, refused: what is in them, once each."""

import os
import subprocess
import sys
from dataclasses import replace

import pytest

from benchmarks.shelves import LABELS, label, picture, write_tar
from tests.bulk.jobs import RECIPE, job, manifest_of, parts_of, rows_of, shards
from viewvote import Classifier
from viewvote.bulk import Recipe, Totals, classify_bulk
from viewvote.bulk.run import LocalBulk
from viewvote.errors import RunError, RunLockedError, UsageError

pytest.importorskip("pyarrow")


class StoppedError(Exception):
    """An interruption."""


def test_a_row_has_what_the_classifier_answers(tmp_path):
    places = shards(tmp_path / "in", number=1, each=4)
    done = classify_bulk(job(places, tmp_path / "t.parquet", keep=["id"], top=2))
    assert done == Totals(4, 0, 0)
    rows = rows_of(tmp_path / "t.parquet")
    clf = Classifier("toy", labels=LABELS, n_views=4)
    for i, (row, answer) in enumerate(zip(rows, map(clf, map(picture, range(4))), strict=True)):
        expected = answer.to_dict(top=2)
        for name in ("label", "index", "probability", "vote_share", "views_used", "tie_break", "kept_views"):
            assert row[name] == expected[name]
        assert row["key"] == f"{tmp_path}/in/0.tar#{i:04}.png"
        assert row["label"] == label(i)
        assert row["votes"] == expected["votes"][answer.label]
        assert {one["label"]: one["probability"] for one in row["top"]} == expected["probabilities"]
        assert row["error"] is None
        assert row["id"] == str(i)  # of JSON, whose types are not known before


def test_parts_are_cut_by_number_within_a_shard(tmp_path):
    classify_bulk(job(shards(tmp_path / "in"), tmp_path / "t.parquet"))
    assert sorted(parts_of(tmp_path / "t.parquet")) == [
        f"part-{shard:08d}-{part:05d}.parquet" for shard in range(3) for part in range(3)
    ]
    manifest = manifest_of(tmp_path / "t.parquet")
    assert manifest["complete"] == {"images": 15, "errors": 0}
    assert manifest["settings"]["labels"] == LABELS
    assert manifest["environment"]["model_fingerprint"]
    assert manifest["viewvote"]


@pytest.mark.parametrize("after", range(1, 13))  # three shards of three parts and an end each
def test_interrupted_after_any_step_it_continues_to_the_same_bytes(tmp_path, after):
    places = shards(tmp_path / "in")
    classify_bulk(job(places, tmp_path / "whole.parquet"))
    todo = job(places, tmp_path / "t.parquet")
    seen = []

    def stop(totals):
        seen.append(totals)
        if len(seen) == after:
            raise StoppedError

    with pytest.raises(StoppedError):
        classify_bulk(todo, watch=stop)
    done = classify_bulk(todo)
    assert (done.images, done.errors) == (15, 0)
    assert parts_of(tmp_path / "t.parquet") == parts_of(tmp_path / "whole.parquet")
    assert manifest_of(tmp_path / "t.parquet")["complete"] == {"images": 15, "errors": 0}


def test_what_is_complete_is_not_computed_again(tmp_path, monkeypatch):
    todo = job(shards(tmp_path / "in"), tmp_path / "t.parquet")
    classify_bulk(todo)
    monkeypatch.setattr(LocalBulk, "steps", lambda *args, **kwargs: pytest.fail("computed"))
    assert classify_bulk(todo) == Totals(15, 0, 15)


def test_changed_settings_are_refused_by_name(tmp_path):
    places = shards(tmp_path / "in", number=1)
    first = job(places, tmp_path / "t.parquet")
    classify_bulk(first)
    before = parts_of(tmp_path / "t.parquet")
    for change, problem in [
        ({"recipe": Recipe({**RECIPE.arguments, "seed": 1})}, "seed 0, now it is seed 1"),
        ({"recipe": Recipe({**RECIPE.arguments, "labels": ["a", "b"]})}, 'labels .*now it is labels .*"a", "b"'),
        ({"part_images": 7}, "part_images 2, now it is part_images 7"),
        ({"top": 1}, "top 3, now it is top 1"),
    ]:
        with pytest.raises(UsageError, match=f"was begun with {problem}"):
            classify_bulk(replace(first, **change))
    with pytest.raises(UsageError, match="was begun with keep"):
        classify_bulk(job(places, tmp_path / "t.parquet", keep=["id"]))
    assert parts_of(tmp_path / "t.parquet") == before
    changed = replace(first, part_images=7)
    assert classify_bulk(changed, overwrite=True).before == 0
    assert len(parts_of(tmp_path / "t.parquet")) == 1


def test_changed_images_are_refused(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    for i in range(6):
        (folder / f"{i}.png").write_bytes(picture(i))
    classify_bulk(job(str(folder), tmp_path / "t.parquet"))
    (folder / "00.png").write_bytes(picture(0))
    with pytest.raises(RunError, match=r"begun with other images: piece 0 is now .*/0\.png and was another"):
        classify_bulk(job(str(folder), tmp_path / "t.parquet"))
    for name in ("00", "4", "5"):
        (folder / f"{name}.png").unlink()
    with pytest.raises(RunError, match="there were 3 pieces or more and are now 2"):
        classify_bulk(job(str(folder), tmp_path / "t.parquet"))


def test_a_part_of_a_piece_that_changed_before_it_was_finished_is_not_taken_for_its_own(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    for i in range(3):
        (folder / f"{i}.png").write_bytes(picture(i))

    def stop(totals):
        raise StoppedError

    with pytest.raises(StoppedError):  # behind the first part, before the note that its piece is finished
        classify_bulk(job(str(folder), tmp_path / "t.parquet"), watch=stop)
    assert len(parts_of(tmp_path / "t.parquet")) == 1
    assert not list((tmp_path / "t.parquet.manifest").glob("finished/*"))
    (folder / "00.png").write_bytes(picture(0))
    with pytest.raises(RunError, match=r"other images: part-00000000-00000.parquet is of a piece that was another"):
        classify_bulk(job(str(folder), tmp_path / "t.parquet"))
    (folder / "00.png").unlink()
    assert classify_bulk(job(str(folder), tmp_path / "t.parquet")).images == 3


def test_what_cannot_be_read_is_a_row_with_its_reason(tmp_path):
    write_tar(tmp_path / "0.tar", {"a.png": picture(0), "b.png": b"no image", "c.png": picture(2)})
    (tmp_path / "1.tar").write_bytes(b"no archive" * 100)
    done = classify_bulk(job(f"{tmp_path}/{{0..2}}.tar", tmp_path / "t.parquet"))
    assert (done.images, done.errors) == (5, 3)
    rows = {row["key"]: row for row in rows_of(tmp_path / "t.parquet")}
    assert rows[f"{tmp_path}/0.tar#a.png"]["label"] == "red"
    assert "cannot decode" in rows[f"{tmp_path}/0.tar#b.png"]["error"]
    assert rows[f"{tmp_path}/0.tar#b.png"]["label"] is None
    assert "is damaged at byte 512" in rows[f"{tmp_path}/1.tar"]["error"]
    assert "No such file" in rows[f"{tmp_path}/2.tar"]["error"]


def test_files_of_somebody_else_are_left_alone(tmp_path):
    (tmp_path / "t.parquet").mkdir()
    (tmp_path / "t.parquet" / "part-00000000-00000.parquet").write_bytes(b"theirs")
    with pytest.raises(UsageError, match="holds files and has no"):
        classify_bulk(job(shards(tmp_path / "in"), tmp_path / "t.parquet"))


def test_two_processes_do_not_write_one_table(tmp_path):
    todo = job(shards(tmp_path / "in"), tmp_path / "t.parquet")

    def second(totals):
        with pytest.raises(RunLockedError, match=f"in use by process {os.getpid()}"):
            classify_bulk(todo)

    classify_bulk(todo, watch=second)


def test_streaming_methods_are_refused(tmp_path):
    todo = job(shards(tmp_path / "in"), tmp_path / "t.parquet", recipe=Recipe({**RECIPE.arguments, "method": "dota"}))
    with pytest.raises(UsageError, match="'dota' learns from one image to the next"):
        classify_bulk(todo)


def test_a_kept_column_may_not_hide_an_answer(tmp_path):
    with pytest.raises(UsageError, match="cannot be named 'label'"):
        classify_bulk(job(shards(tmp_path / "in"), tmp_path / "t.parquet", keep=["label"]))


def test_importing_viewvote_loads_neither_arrow_nor_fsspec_nor_ray():
    code = "import viewvote, viewvote.cli.commands, sys; viewvote.Classifier; from viewvote import sources\n"
    code += "print([name for name in ('pyarrow', 'fsspec', 'ray', 'torch') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
