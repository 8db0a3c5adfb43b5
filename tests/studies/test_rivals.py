"""Which rows of the paper's tables can be run with what a user has."""

import numpy as np
import pytest
from typer.testing import CliRunner

from tests.runs.colour_runs import colour_folder
from viewvote.cli.commands import app
from viewvote.encoders.head_file import HeadFile
from viewvote.errors import UsageError
from viewvote.labels.templates import resolve_templates
from viewvote.report.layouts import find_layout
from viewvote.report.published import match
from viewvote.runs.read import Run, load_runs
from viewvote.studies.reproduce import ITEMS, plan_item
from viewvote.studies.rivals import Means, choices

B16, L14 = "open_clip:ViT-B-16/openai", "open_clip:ViT-L-14/openai"
ALL = Means((B16, f"coop:c.pth@{B16}", f"maple:m.pth@{B16}"), L14, statistics="s.safetensors")


def missing(means, table="nds"):
    return {one.title: one.missing for one in choices([f"tab:{table}"], means) if one.missing}


def test_who_has_everything_runs_every_row_as_the_paper_has_it(tmp_path):
    pytest.importorskip("torch")
    for name, dataset, layout in (("nds", "imagenet-a", "nds"), ("fine-grained", "dtd", "fine-grained")):
        planned = plan_item(ITEMS[name], datasets=[dataset], values={}, means=ALL)
        assert planned.missing == ()
        found = [match(Run(tmp_path, spec, None, 1), layout=find_layout(layout)) for spec in planned.specs]
        assert [one.differences for one in found] == [()] * len(found)
        rows = {(one.row.model, one.row.row) for one in found}
        assert rows == {(one.row.model, one.row.row) for one in choices(ITEMS[name].labels, ALL)}


def test_each_row_says_what_it_lacks(monkeypatch):
    pytest.importorskip("torch")
    found = missing(Means(("pocket",)))
    assert found["TPT on CLIP-ViT-B-16"].startswith("tuning needs a model in torch")
    assert found["PromptAlign on MaPLe"] == "needs --model maple:FILE@MODEL"
    assert found["Zero on CLIP-ViT-B-16 + CLIP-ViT-L-14"].startswith("needs --teacher")
    assert "Zero on CLIP-ViT-B-16" not in found
    with_teacher = missing(Means((B16,), L14))
    assert with_teacher["RLCF t=3 prompt on CLIP-ViT-B-16 + CLIP-ViT-L-14"] == "needs --model coop:FILE@MODEL"
    assert "RLCF t=3 image on CLIP-ViT-B-16 + CLIP-ViT-L-14" not in with_teacher
    assert missing(Means((f"maple:m@{B16}",)))["PromptAlign on MaPLe"].startswith("needs --statistics")
    monkeypatch.setattr("viewvote.studies.rivals.find_spec", lambda _: None)
    assert "needs torch" in missing(Means((B16,)))["TPT on CLIP-ViT-B-16"]


def test_vectors_of_a_text_head_run_the_rows_of_their_texts_alone(tmp_path):
    vectors = np.eye(3, dtype=np.float32)

    def rows(texts):
        means = Means(("clip-b16",), text_head=HeadFile(tmp_path / "h.npy", vectors, templates=texts))
        return {one.row.row for one in choices(["tab:nds"], means) if one.values}

    assert rows(None) == rows(resolve_templates("photo")) == {"Zero-Shot", "Zero"}
    assert rows(resolve_templates("ensemble")) == {"Ensemble", "Zero+Ensemble"}
    assert rows(("a {}.",)) == set()


def test_an_item_of_which_nothing_can_be_run_says_why():
    with pytest.raises(UsageError, match=r"nothing of it can be run.*tuning needs a model in torch"):
        plan_item(ITEMS["invariance"], datasets=["dtd"], values={}, means=Means(("toy",)))


def test_rivals_with_a_teacher_and_with_tuning_are_run(tmp_path):
    pytest.importorskip("torch")
    pytest.importorskip("open_clip")
    from tests.encoders.torch.naive_clip import save_tiny

    model = f"open_clip:local-dir:{save_tiny(tmp_path / 'clip')}"
    photos = colour_folder(tmp_path / "photos", each=1)
    asked = ["--dataset", photos, "--model", model, "--teacher", model, "--views", 8, "--out", tmp_path / "runs"]
    done = CliRunner().invoke(app, ["reproduce", "nds", *map(str, asked), "--quiet"])
    assert done.exit_code == 0, done.output
    found = {(run.method, run.spec.teacher, run.spec.settings.get("tune")) for run in load_runs([tmp_path / "runs"])}
    assert ("tpt", None, None) in found
    assert {("zero", model, None), ("rlcf", model, "image")} <= found
    assert ("zero-shot", None, None) in found
    assert "left out: " in done.output


def test_datasets_of_other_labels_than_the_vectors_are_left_out(tmp_path):
    one, other = (colour_folder(tmp_path / name, each=1) for name in ("one", "other"))
    (other / "red").rename(other / "purple")
    labels = tmp_path / "labels.txt"
    labels.write_text("\n".join(sorted(each.name for each in one.iterdir())))
    head = tmp_path / "head.npy"
    exported = ["text-head", "export", "toy", "--labels-file", labels, "--out", head]
    assert CliRunner().invoke(app, list(map(str, exported))).exit_code == 0

    def reproduce(*folders):
        named = [each for folder in folders for each in ("--dataset", folder)]
        asked = ["reproduce", "ties", *named, "--model", "toy", "--text-head", head, "--views", 8]
        return CliRunner().invoke(app, [*map(str, asked), "--out", str(tmp_path / "runs"), "--quiet"])

    done = reproduce(one, other)
    assert done.exit_code == 0, done.output
    assert f"left out: {other}: the vectors of {head} are of other labels" in done.output
    assert len(load_runs([tmp_path / "runs"])) == 1
    assert reproduce(other).exit_code == 2
