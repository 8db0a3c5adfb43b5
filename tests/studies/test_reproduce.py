"""`viewvote reproduce`: every item of the paper, run on what is there."""

import re

import numpy as np
import pytest
from typer.testing import CliRunner

from tests.conftest import PHOTOS
from tests.encoders.test_catalog import CLIP, cache_repo
from tests.runs.colour_runs import colour_folder
from viewvote.cli.commands import app
from viewvote.encoders.head_file import HeadFile
from viewvote.errors import UnknownNameError, UsageError
from viewvote.report.layouts import SHIPPED
from viewvote.runs.read import Run
from viewvote.runs.spec import RunSpec
from viewvote.studies import STUDIES
from viewvote.studies.reproduce import ITEMS, find_item, list_items, plan_item, runs_of
from viewvote.studies.rivals import Means

PAPER = PHOTOS.parent / "paper" / "zero-paper.tex.txt"


def reproduce(*args):
    return CliRunner().invoke(app, ["reproduce", *map(str, args)])


def test_every_item_is_a_table_or_a_study():
    for item in ITEMS.values():
        assert (item.layout in SHIPPED) != (item.study in STUDIES)
        assert item.datasets


@pytest.mark.skipif(not PAPER.exists(), reason="the paper's source is not here")
def test_every_table_and_figure_of_the_paper_is_an_item():
    labels = set(re.findall(r"\\label\{((?:tab|fig):[\w-]+)\}", PAPER.read_text(encoding="utf-8")))
    assert labels == {one for item in ITEMS.values() for one in item.labels if one.startswith(("tab:", "fig:"))}


def test_the_list_has_what_is_present(tmp_path):
    found = reproduce("--out", tmp_path / "runs")
    assert found.exit_code == 0, found.output
    lines = found.output.splitlines()
    assert len(lines) == len(ITEMS) + 3
    assert re.search(r"^nds +0/5 +4/13 +0 +no  Table 1", lines[1])
    assert "TPT on CLIP-ViT-B-16" in lines[-1]
    assert "needs --teacher" in lines[-1]
    assert "MaPLe's released prompts" in lines[1]


def test_an_item_runs_what_is_missing_and_prints_ours(tmp_path):
    folder = colour_folder(tmp_path / "colours", each=3)
    common = ["--dataset", folder, "--model", "toy", "--views", "12", "--out", tmp_path / "runs", "--quiet"]
    found = reproduce("nds", *common)
    assert found.exit_code == 0, found.output
    assert found.output.count("n 9, no official split, 1 seed") == 4
    assert "templates ensemble" in found.output
    again = reproduce("ties", *common)
    assert again.exit_code == 0, again.output
    assert "most-confident" in again.output
    assert len(list((tmp_path / "runs").iterdir())) == 4  # the run of zero was there
    listed = reproduce("--out", tmp_path / "runs").output
    assert re.search(r"^ties +0/15 +1/1 +2  ", listed, flags=re.M)


def test_what_is_not_there_is_named(tmp_path):
    with pytest.raises(UnknownNameError, match="jury"):
        find_item("jurry")
    with pytest.raises(UsageError, match="none of its datasets is present"):
        plan_item(ITEMS["failure"], datasets=[], values={})
    found = reproduce("failure", "--out", tmp_path)
    assert found.exit_code == 2


def test_presets_are_applied_to_the_runs_of_an_item():
    pytest.importorskip("torch")
    means = Means(("open_clip:ViT-B-16/openai",))
    planned = plan_item(ITEMS["invariance"], datasets=["dtd"], values={}, means=means)
    assert [(spec.method, spec.augment, spec.settings) for spec in planned.specs] == [
        ("tpt", "augmix", {"record_marginal": True})
    ]


def test_weights_in_the_hubs_cache_are_listed_with_the_id_that_loads_them(tmp_path):
    clip = {"config.json": CLIP, "model.safetensors": "x"}
    cache_repo(tmp_path, "openai/clip-vit-base-patch16", clip)
    cache_repo(tmp_path, "openai/clip-vit-base-patch32", clip)
    found = {one.name: one.weights for one in list_items([], root=tmp_path, cache_dir=tmp_path)}
    assert found["nds"] == found["nds-coop"] == "hf:openai/clip-vit-base-patch16"
    assert found["nds-laion"] is None


def test_runs_that_did_not_record_what_a_study_reads_are_not_counted(tmp_path):
    specs = {
        "tpt": RunSpec("pets", method="tpt"),
        "recorded": RunSpec("pets", method="tpt", settings={"record_marginal": True}),
        "zero": RunSpec("pets"),
        "detailed": RunSpec("pets", detail=True),
    }
    runs = [Run(tmp_path / name, spec, None, 1) for name, spec in specs.items()]

    def counted(item):
        return [run.path.name for run in runs_of(ITEMS[item], runs)]

    assert counted("invariance") == ["recorded"]
    assert counted("jury") == ["detailed"]
    assert counted("ties") == ["zero", "detailed"]
    assert runs_of(ITEMS["ties"], [Run(tmp_path, specs["zero"], None, 0)]) == []


def test_a_tower_waits_for_vectors_of_its_own_text_side(tmp_path):
    def weights(maker):
        head = HeadFile(tmp_path / "h.npy", np.eye(3, dtype=np.float32), model=maker)
        means = Means(("clip-b16",), text_head=head)
        return list_items([], root=tmp_path, cache_dir=tmp_path, means=means)[0].weights

    assert weights(None) == weights("open_clip:ViT-B-16/openai") == "clip-b16"
    assert weights("clip-b16") is None
    assert weights("open_clip:ViT-B-32/openai") is None
