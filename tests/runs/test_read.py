"""Run folders: what they tell about themselves, and what is no run."""

from dataclasses import fields

import pytest

from tests.report.run_folders import answers, write_run
from viewvote.errors import RecordError, UsageError
from viewvote.methods import METHODS, StreamingMethod
from viewvote.runs.read import find_run, load_run, load_runs


def test_a_run_tells_its_method_model_seed_and_split(tmp_path):
    run = load_run(
        write_run(
            tmp_path / "a",
            answers(2, 1),
            model="m",
            teacher="t",
            method="zero",
            keep=0.1,
            views=64,
            seed=3,
            settings={"tie": "random"},
        )
    )
    assert (run.title, run.model, run.seed, run.dataset) == ("zero (keep 0.1, tie random)", "m -> t", 3, "pets")
    assert run.split == "full split"
    assert len(run.columns()) == 3


def test_what_is_left_out_of_a_spec_has_its_default(tmp_path):
    run = load_run(write_run(tmp_path / "a", answers(1, 0), dataset="/data/my photos"))
    assert (run.title, run.model, run.seed) == ("zero", "pocket", 0)


@pytest.mark.parametrize("method", sorted(METHODS))
def test_a_keep_that_is_given_as_it_is_by_default_makes_no_other_row(tmp_path, method):
    default = next((each.default for each in fields(METHODS.get(method)) if each.name == "keep"), None)
    plain = load_run(write_run(tmp_path / "plain", answers(1, 1), method=method))
    for keep in (0.1, 0.3, 0.5):
        given = load_run(write_run(tmp_path / "given", answers(1, 1), method=method, keep=keep))
        assert (given.settings == plain.settings) == (keep == default)
        assert given.title == (method if keep == default else f"{method} (keep {keep})")


@pytest.mark.parametrize("method", sorted(METHODS))
def test_the_order_of_samples_makes_another_row_for_methods_that_learn_from_it(tmp_path, method):
    streaming = isinstance(METHODS.get(method)(), StreamingMethod)
    titles = [
        load_run(write_run(tmp_path / order, answers(1, 1), method=method, order=order)).title
        for order in ("shuffled", "dataset")
    ]
    assert titles == [method, f"{method} (order dataset)" if streaming else method]


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("imagenet-a", "imagenet-a"),
        ("/data/my photos", "my photos"),
        ("/data/photos.v2", "photos.v2"),
        ("/data/birds.csv", "birds"),
        ("/data/birds.JSONL", "birds"),
        ("hf:someone/birds?split=test&image=a/b", "birds"),
        ("hf:/data/birds.v2", "birds.v2"),
    ],
)
def test_a_run_that_is_not_complete_names_its_dataset_as_the_dataset_names_itself(tmp_path, given, name):
    assert load_run(write_run(tmp_path / "a", [], dataset=given, complete=False)).dataset == name


def test_the_name_that_the_environment_tells_is_no_guess(tmp_path):
    run = load_run(write_run(tmp_path / "a", [], dataset="/data/x.csv", complete=False, named="told"))
    assert run.dataset == "told"
    (tmp_path / "a" / "environment.json").write_text("{")
    with pytest.raises(RecordError, match=r"environment\.json is not valid JSON"):
        load_run(tmp_path / "a")


@pytest.mark.parametrize(
    ("change", "split"),
    [
        ({"subset": True}, "subset"),
        ({"size": 9}, "no official split"),
        ({"official": False}, "no official split"),
        ({"complete": False}, "not complete"),
    ],
)
def test_only_a_complete_run_over_a_whole_official_split_is_called_full(tmp_path, change, split):
    assert load_run(write_run(tmp_path / "a", answers(2, 1), **change)).split == split


@pytest.mark.parametrize("ending", [b"", b'{"key": "half a li'])
def test_a_summary_of_other_records_than_there_are_tells_nothing(tmp_path, ending):
    folder = write_run(tmp_path / "a", answers(30, 10))
    lines = (folder / "records.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "records.jsonl").write_bytes(b"".join(lines[:12]) + ending)
    run = load_run(folder)
    assert (run.n, run.summary, run.split) == (12, None, "not complete")


def test_a_folder_of_runs_stands_for_all_of_them_once(tmp_path):
    for name in ("b", "a"):
        write_run(tmp_path / name, answers(1, 1))
    assert [run.path.name for run in load_runs([tmp_path, tmp_path / "a"])] == ["a", "b"]


def test_a_folder_with_one_run_names_it(tmp_path):
    folder = write_run(tmp_path / "runs" / "a", answers(1, 1))
    (tmp_path / "runs" / "notes").mkdir()
    assert find_run(tmp_path / "runs") == find_run(folder) == load_run(folder)


def test_of_several_runs_none_is_chosen(tmp_path):
    first, second = (write_run(tmp_path / name, answers(1, 1)) for name in ("a", "b"))
    with pytest.raises(UsageError) as told:
        find_run(tmp_path)
    assert str(told.value) == f"{tmp_path} has 2 runs in it, and one is asked for. Give one of: {first}, {second}"


@pytest.mark.parametrize("name", ["empty", "nothing", "file"])
def test_where_no_run_is_found_the_path_is_named(tmp_path, name):
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match=rf"{name} is not a run: it has no records\.jsonl"):
        find_run(tmp_path / name)


def test_what_is_no_run_is_refused(tmp_path):
    with pytest.raises(UsageError, match=r"no records\.jsonl"):
        load_runs([tmp_path])
    folder = write_run(tmp_path / "a", answers(1, 1))
    (folder / "summary.json").write_text("[]")
    with pytest.raises(RecordError, match=r"summary\.json must hold a JSON object, found list"):
        load_run(folder)
    (folder / "summary.json").write_text("{")
    with pytest.raises(RecordError, match=r"summary\.json is not valid JSON"):
        load_run(folder)
    (folder / "spec.toml").write_text('views = "many"')
    with pytest.raises(RecordError, match=r"its spec\.toml cannot be read \(views must be a number"):
        load_run(folder)
    (folder / "spec.toml").unlink()
    with pytest.raises(RecordError, match="cannot be read"):
        load_run(folder)


def test_a_run_of_another_version_is_read_with_its_unknown_keys_in_the_title(tmp_path):
    folder = write_run(tmp_path / "a", answers(1, 1), colour="warm", batch_views=8)
    (folder / "summary.json").write_text('{"n": 2, "mood": "good"}')
    run = load_run(folder)
    assert (run.title, run.split, run.peak_memory_mb) == ("zero (colour warm)", "subset", None)
    (folder / "spec.toml").write_text("")
    assert (load_run(folder).dataset, load_run(folder).title) == ("a", "zero")
