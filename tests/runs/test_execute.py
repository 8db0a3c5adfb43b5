"""Runs in this process: interrupted and resumed, damaged, out of space, with errors and retries, streaming."""

import json
import logging
import os
import resource
import shutil
from pathlib import Path

import numpy as np
import pytest

from tests.runs.colour_runs import KilledError, colour_folder, lines_of, spoil
from viewvote.encoders import SCHEMES
from viewvote.encoders.toy import ToyEncoder
from viewvote.errors import RecordError, RunError, RunLockedError, RunWriteError, UsageError
from viewvote.records.record import Record
from viewvote.registry import Entry
from viewvote.runs import RunSpec, run
from viewvote.runs.lock import hold


class BatchyEncoder(ToyEncoder):
    """A model whose features depend on what they are encoded with, as the last bits of real ones do."""

    model_id = "batchy"
    fingerprint = "batchy-1"
    block_views = None  # as an encoder that does not say what may share a call: views of one image only

    def encode_images(self, views):
        return super().encode_images(views) + np.float32(1e-4) * views.mean(dtype=np.float64).astype(np.float32)


@pytest.fixture(autouse=True)
def _batchy(monkeypatch):
    monkeypatch.setitem(SCHEMES._entries, "batchy", Entry("", "a test double"))
    monkeypatch.setitem(SCHEMES._objects, "batchy", lambda rest, options: BatchyEncoder())


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    return colour_folder(tmp_path_factory.mktemp("data") / "colours")


def spec_of(folder, **changes):
    return RunSpec(**{"dataset": str(folder), "model": "batchy", "views": 4} | changes)


def stop_after(n):
    def watch(moment):
        if moment.computed == n:
            raise KilledError

    return watch


def interrupted(spec, out, n, **options):
    with pytest.raises(KilledError):
        run(spec, out=out, watch=stop_after(n), **options)


def test_a_run_is_a_folder_with_everything_in_it(photos, tmp_path):
    summary = run(spec_of(photos), out=tmp_path)
    folder = Path(summary.path)
    names = {"spec.toml", "environment.json", "records.jsonl", "summary.json", "run.log", "lock"}
    assert {path.name for path in folder.iterdir()} == names
    assert folder.name == f"colours-batchy-zero-{RunSpec.from_toml((folder / 'spec.toml').read_text()).digest[:12]}"
    records = [Record.from_line(line) for line in (folder / "records.jsonl").read_text().splitlines()]
    assert [record.key for record in records] == sorted(p.relative_to(photos).as_posix() for p in photos.rglob("*.png"))
    assert all(len(record.views.labels) == 4 and record.candidates for record in records)
    right = sum(record.index == record.target for record in records)
    assert (summary.n, summary.correct, summary.top1, summary.errors) == (15, right, right / 15, 0)
    assert 0 < right < 15  # the pictures are not all easy
    assert json.loads((folder / "summary.json").read_text())["correct"] == right
    environment = json.loads((folder / "environment.json").read_text())
    assert environment["model_fingerprint"] == "batchy-1"
    assert environment["packages"]["numpy"] == np.__version__


def test_adaptive_views_are_recorded_and_resumed_like_others(photos, tmp_path):
    spec = spec_of(photos, model="toy", views="adaptive")
    interrupted(spec, tmp_path / "a", 6)
    resumed = run(spec, out=tmp_path / "a")
    assert lines_of(resumed) == lines_of(run(spec, out=tmp_path / "b"))
    records = [Record.from_line(line) for line in (Path(resumed.path) / "records.jsonl").read_text().splitlines()]
    assert {record.stop for record in records} >= {"confident"}
    assert all(record.views_used == len(record.views.labels) <= 64 for record in records)
    exact = run(spec_of(photos, model="toy", views=64, stop="exact"), out=tmp_path)
    full = run(spec_of(photos, model="toy", views=64), out=tmp_path)
    assert exact.correct == full.correct


@pytest.mark.parametrize("stops", [[1], [3], [4], [5, 1, 7], [14]])
def test_interrupted_anywhere_it_ends_with_the_same_records(photos, tmp_path, stops):
    for n in stops:
        interrupted(spec_of(photos), tmp_path / "a", n)
    resumed = run(spec_of(photos), out=tmp_path / "a")
    assert lines_of(resumed) == lines_of(run(spec_of(photos), out=tmp_path / "b"))
    assert "records are there" in (Path(resumed.path) / "run.log").read_text()


def test_only_what_is_missing_is_computed(photos, tmp_path):
    interrupted(spec_of(photos), tmp_path, 9)
    seen = []
    run(spec_of(photos), out=tmp_path, watch=seen.append)
    assert [moment.done for moment in seen] == [10, 11, 12, 13, 14, 15]
    assert seen[-1].computed == 6


def test_a_complete_run_is_read_without_the_model(photos, tmp_path, monkeypatch):
    first = run(spec_of(photos), out=tmp_path)
    monkeypatch.delitem(SCHEMES._objects, "batchy")
    assert run(spec_of(photos), out=tmp_path) == first


def test_half_a_line_at_the_end_is_computed_again(photos, tmp_path):
    interrupted(spec_of(photos), tmp_path / "a", 6)
    (folder,) = (tmp_path / "a").iterdir()
    os.truncate(folder / "records.jsonl", (folder / "records.jsonl").stat().st_size - 40)
    resumed = run(spec_of(photos), out=tmp_path / "a")
    assert lines_of(resumed) == lines_of(run(spec_of(photos), out=tmp_path / "b"))
    assert "damaged end cut off after record 5" in (folder / "run.log").read_text()


def test_a_full_disk_stops_the_run_and_spoils_nothing(photos, tmp_path):
    whole = run(spec_of(photos), out=tmp_path / "b")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    room = (Path(whole.path) / "records.jsonl").stat().st_size // 2
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, hard))
        with pytest.raises(RunWriteError, match="What was recorded is safe"):
            run(spec_of(photos), out=tmp_path / "a")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    (folder,) = (tmp_path / "a").iterdir()
    assert 3 < len(lines_of(folder)) < 12
    assert lines_of(run(spec_of(photos), out=tmp_path / "a")) == lines_of(whole)


def test_two_processes_in_one_folder_are_one_too_many(photos, tmp_path):
    folder = Path(run(spec_of(photos), out=tmp_path).path)
    with hold(folder / "lock"), pytest.raises(RunLockedError, match=f"in use by process {os.getpid()}"):
        run(spec_of(photos), out=tmp_path)


@pytest.fixture
def own_photos(photos, tmp_path):
    return Path(shutil.copytree(photos, tmp_path / "own" / "colours"))


def test_an_unreadable_image_is_a_record_and_can_be_retried(own_photos, tmp_path):
    whole = lines_of(run(spec_of(own_photos), out=tmp_path / "whole"))
    bad = [own_photos / "blue" / "0002.png", own_photos / "red" / "0004.png"]
    held = [spoil(path) for path in bad]
    failed = run(spec_of(own_photos), out=tmp_path / "a")
    assert (failed.n, failed.errors) == (15, 2)
    record = Record.from_line((Path(failed.path) / "records.jsonl").read_text().splitlines()[2])
    assert (record.key, record.target, record.index, record.correct) == ("blue/0002.png", 0, None, None)
    assert "0002.png" in record.error
    assert failed.top1 == failed.correct / 13
    assert "blue/0002.png" in (Path(failed.path) / "run.log").read_text()

    assert run(spec_of(own_photos), out=tmp_path / "a").errors == 2  # left alone unless asked for
    bad[0].write_bytes(held[0])
    assert run(spec_of(own_photos), out=tmp_path / "a", retry_errors=True).errors == 1
    bad[1].write_bytes(held[1])
    retried = run(spec_of(own_photos), out=tmp_path / "a", retry_errors=True)
    assert retried.errors == 0
    mine = lines_of(retried)
    # The neighbours of an unreadable image were encoded without it; the retried ones are as in a whole run.
    assert [mine[i] for i in (2, 14)] == [whole[i] for i in (2, 14)]
    assert [Record.from_line(line + ',"timings":{}}').key for line in mine] == [
        Record.from_line(line + ',"timings":{}}').key for line in whole
    ]


def test_a_retry_that_is_interrupted_loses_nothing(own_photos, tmp_path, monkeypatch):
    bad = [own_photos / "blue" / "0002.png", own_photos / "red" / "0004.png"]
    held = [spoil(path) for path in bad]
    before = lines_of(run(spec_of(own_photos, model="toy"), out=tmp_path / "a"))
    for path, data in zip(bad, held, strict=True):
        path.write_bytes(data)
    (folder,) = (tmp_path / "a").iterdir()
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(KilledError))
    with pytest.raises(KilledError):
        run(spec_of(own_photos, model="toy"), out=tmp_path / "a", retry_errors=True)
    monkeypatch.undo()
    assert lines_of(folder) == before
    os.truncate(folder / "retried.jsonl", (folder / "retried.jsonl").stat().st_size // 2)
    retried = run(spec_of(own_photos, model="toy"), out=tmp_path / "a", retry_errors=True)
    assert lines_of(retried) == lines_of(run(spec_of(own_photos, model="toy"), out=tmp_path / "b"))
    assert not (folder / "retried.jsonl").exists()


@pytest.mark.parametrize("method", ["tda", "dota", "context"])
def test_a_stream_resumes_with_what_it_had_learned(photos, tmp_path, method):
    spec = spec_of(photos, method=method)
    interrupted(spec, tmp_path / "a", 7)
    resumed = run(spec, out=tmp_path / "a")
    whole = run(spec, out=tmp_path / "b")
    assert lines_of(resumed) == lines_of(whole)
    keys = [Record.from_line(line + ',"timings":{}}').key for line in lines_of(whole)]
    assert keys != sorted(keys)  # streams are shuffled: a dataset sorted by class teaches one class at a time


def test_a_stream_is_not_resumed_on_other_images(own_photos, tmp_path):
    spec = spec_of(own_photos, model="toy", method="tda", order="dataset")
    held = spoil(own_photos / "blue" / "0001.png")
    interrupted(spec, tmp_path / "out", 7)
    (own_photos / "blue" / "0001.png").write_bytes(held)
    with pytest.raises(RunError, match=r"cannot be resumed: 'blue/0001.png' gives another answer"):
        run(spec, out=tmp_path / "out")
    with pytest.raises(UsageError, match="cannot be retried alone"):
        run(spec, out=tmp_path / "out", retry_errors=True)


def test_a_subset_has_the_records_of_the_whole(photos, tmp_path):
    spec = spec_of(photos, model="toy")
    whole = lines_of(run(spec, out=tmp_path))
    part = run(spec_of(photos, model="toy", limit=5), out=tmp_path)
    assert lines_of(part) == whole[::3]
    assert (part.n, part.dataset_size, part.subset, part.full_split) == (5, 15, True, False)
    assert "5 of 15 samples, a subset" in str(part)


def test_seeds_and_settings_make_other_runs(photos, tmp_path):
    specs = [spec_of(photos), spec_of(photos, seed=1), spec_of(photos, keep=0.5), spec_of(photos, views=5)]
    assert len({run(spec, out=tmp_path).path for spec in specs}) == 4


def test_the_dataset_s_own_templates_can_be_asked_for(photos, tmp_path):
    summary = run(spec_of(photos, templates="dataset"), out=tmp_path)
    assert json.loads((Path(summary.path) / "environment.json").read_text())["templates"] == ["a photo of a {}."]


@pytest.mark.parametrize(
    "change", [{"packages": 3}, {"model_probe": "x"}, {"model_probe": [[1]]}, {"teacher_probe": [None]}]
)
def test_an_edited_environment_is_an_error_that_names_its_file_and_key(photos, tmp_path, change):
    interrupted(spec_of(photos), tmp_path, 3)
    (folder,) = tmp_path.iterdir()
    told = json.loads((folder / "environment.json").read_text())
    (folder / "environment.json").write_text(json.dumps(told | change))
    with pytest.raises(RecordError, match=rf"environment\.json: '{next(iter(change))}'"):
        run(spec_of(photos), out=tmp_path)


def test_other_weights_are_refused_and_other_versions_told(photos, tmp_path, monkeypatch):
    interrupted(spec_of(photos), tmp_path, 3)
    (folder,) = tmp_path.iterdir()
    told = json.loads((folder / "environment.json").read_text())
    told["packages"]["numpy"] = "0.1"
    (folder / "environment.json").write_text(json.dumps(told))
    interrupted(spec_of(photos), tmp_path, 3)
    assert f"differs from environment.json: numpy 0.1 -> {np.__version__}" in (folder / "run.log").read_text()
    with monkeypatch.context() as patch:
        real = BatchyEncoder.encode_images
        patch.setattr(BatchyEncoder, "encode_images", lambda self, views: -real(self, views))
        with pytest.raises(RunError, match="began with another model: the features of a test picture were"):
            run(spec_of(photos), out=tmp_path)
    monkeypatch.setattr(BatchyEncoder, "fingerprint", "batchy-2")
    with pytest.raises(RunError, match=r"began with another model fingerprint: batchy-1, now batchy-2"):
        run(spec_of(photos), out=tmp_path)


def test_a_changed_dataset_is_another_run(own_photos, tmp_path):
    first = run(spec_of(own_photos), out=tmp_path / "out")
    (own_photos / "blue" / "0000.png").rename(own_photos / "blue" / "other.png")
    assert run(spec_of(own_photos), out=tmp_path / "out").path != first.path
    spec = RunSpec.from_toml((Path(first.path) / "spec.toml").read_text())
    with pytest.raises(UsageError, match="is not the one of the spec"):
        run(spec, out=tmp_path / "out")


def test_a_spec_changed_by_hand_is_refused(photos, tmp_path):
    path = Path(run(spec_of(photos), out=tmp_path).path) / "spec.toml"
    path.write_text(path.read_text().replace("views = 4", "views = 8"))
    with pytest.raises(RunError, match="changed by hand"):
        run(spec_of(photos), out=tmp_path)


def test_folders_of_one_name_are_not_one_run(photos, own_photos, tmp_path):
    assert run(spec_of(photos), out=tmp_path / "o").path != run(spec_of(own_photos), out=tmp_path / "o").path


def test_the_log_goes_to_a_file_of_the_user_s_too(photos, tmp_path):
    run(spec_of(photos), out=tmp_path / "out", log_file=tmp_path / "mine.log")
    assert "complete: colours-batchy-zero" in (tmp_path / "mine.log").read_text()
    assert not logging.getLogger("viewvote").handlers
    with pytest.raises(RunWriteError, match=r"cannot write .*mine\.log: No such file"):
        run(spec_of(photos), out=tmp_path / "out", log_file=tmp_path / "none" / "mine.log")


def test_a_relative_folder_is_the_same_run_as_an_absolute_one(photos, tmp_path, monkeypatch):
    monkeypatch.chdir(photos.parent)
    assert run(spec_of(photos.name), out=tmp_path).path == run(spec_of(photos), out=tmp_path).path


def test_without_a_single_usable_image_no_rate_is_made_up(tmp_path):
    photos = colour_folder(tmp_path / "colours", each=1)
    for path in photos.rglob("*.png"):
        spoil(path)
    summary = run(spec_of(photos), out=tmp_path / "out")
    assert (summary.n, summary.errors, summary.correct) == (3, 3, 0)
    assert (summary.top1, summary.top1_interval, summary.top5, summary.seconds) == (None, None, None, {})
    assert str(summary).endswith("no usable image, all 3 samples, 3 errors")


def test_an_out_that_is_a_file_is_an_error(photos, tmp_path):
    (tmp_path / "out").touch()
    with pytest.raises(RunWriteError, match=r"cannot write .*out"):
        run(spec_of(photos), out=tmp_path / "out")
