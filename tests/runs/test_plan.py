"""From what is asked to one spec per run."""

import re

import pytest

from tests.runs.colour_runs import colour_folder
from viewvote.datasets import SUITES
from viewvote.errors import UsageError
from viewvote.runs import plan_runs
from viewvote.runs.plan import open_datasets, override_plan, read_plan


def test_a_suite_and_seeds_make_one_run_each():
    specs = plan_runs({"dataset": "nds", "seeds": [0, 1], "views": 8})
    assert [(spec.dataset, spec.seed) for spec in specs] == [(name, seed) for name in SUITES["nds"] for seed in (0, 1)]
    assert {spec.views for spec in specs} == {8}


def test_repeats_are_dropped():
    specs = plan_runs({"dataset": ["pets", "pets"], "seeds": [3, 3]})
    assert [(spec.dataset, spec.seed) for spec in specs] == [("pets", 3)]


def test_a_folder_goes_by_its_absolute_path(tmp_path, monkeypatch):
    colour_folder(tmp_path / "colours", each=1)
    (tmp_path / "names.txt").write_text("blue\ngreen\nred\n")
    monkeypatch.chdir(tmp_path)
    specs = plan_runs({"dataset": ["colours", "./colours/"], "classes": "names.txt"})
    assert [(spec.dataset, spec.classes) for spec in specs] == [
        (str(tmp_path / "colours"), str(tmp_path / "names.txt"))
    ]
    assert len(open_datasets(specs)[str(tmp_path / "colours")]) == 3


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"dataset": "pets", "seed": 1, "seeds": [1]}, "seed or seeds, not both"),
        ({"dataset": "pets", "seeds": "0,1"}, "seeds must be a list of whole numbers"),
        ({"dataset": "pets", "seeds": []}, "seeds must be a list of whole numbers"),
        ({"dataset": "pets", "seeds": [True]}, "seeds must be a list of whole numbers"),
        ({"dataset": 3}, "dataset must be a name, or a list of names; got 3"),
        ({"dataset": []}, "no dataset is named"),
        ({"dataset": "pets", "classes": 3}, "classes must be of type str; got 3"),
        ({"sedes": [1]}, "Did you mean 'seeds'"),
        ({"dataset": "pets", "sedes": [1]}, "Did you mean 'seeds'"),
    ],
)
def test_a_wrong_plan_is_told_what_is_wrong(values, told):
    with pytest.raises(UsageError, match=re.escape(told)):
        plan_runs(values)


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(UsageError, match=r"cannot read the spec .*none\.toml: No such file"):
        read_plan(tmp_path / "none.toml")
    (tmp_path / "latin.toml").write_bytes(b'dataset = "\xe9"')
    with pytest.raises(UsageError, match=r"latin\.toml is not UTF-8"):
        read_plan(tmp_path / "latin.toml")
    (tmp_path / "bad.toml").write_text("dataset: pets")
    with pytest.raises(UsageError, match=r"bad\.toml is not TOML"):
        read_plan(tmp_path / "bad.toml")


@pytest.mark.parametrize(
    ("file", "given", "merged"),
    [
        ({"seed": 1, "views": 8}, {"views": 4}, {"seed": 1, "views": 4}),
        ({"seed": 1}, {"seeds": [2, 3]}, {"seeds": [2, 3]}),
        ({"dataset": "pets", "fingerprint": "0f"}, {"dataset": "dtd"}, {"dataset": "dtd"}),
        ({"stop": "a.json", "stop_fingerprint": "0f"}, {"stop": "b.json"}, {"stop": "b.json"}),
        ({"order": "dataset"}, {"method": "tda"}, {"method": "tda"}),
        ({"order": "shuffled"}, {"method": "zero"}, {"order": "shuffled", "method": "zero"}),  # it is the default
        ({"order": "dataset"}, {"method": "tda", "order": "dataset"}, {"method": "tda", "order": "dataset"}),
    ],
)
def test_what_is_given_replaces_a_file_and_drops_what_followed_from_it(file, given, merged):
    assert override_plan(file, given) == merged
