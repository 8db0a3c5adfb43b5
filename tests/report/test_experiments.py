"""The same experiment is the same in every field: every published row, in both directions."""

from dataclasses import fields, replace

import pytest

from viewvote.methods import METHODS
from viewvote.report.experiments import (
    COMPUTING,
    CONSTANTS,
    authors_augment,
    authors_settings,
    experiment_of,
    published_experiment,
)
from viewvote.report.layouts import find_layout
from viewvote.report.paper import paper_rows
from viewvote.report.published import match, published_rows
from viewvote.runs.read import Run
from viewvote.runs.spec import RunSpec

B16, L14 = "open_clip:ViT-B-16/openai", "open_clip:ViT-L-14/openai"
LAION = "open_clip:ViT-B-16/laion2b_s34b_b88k"
ROWS = [(layout, row) for layout in ("nds", "fine-grained") for row in published_rows(find_layout(layout))]


CHANGED = {
    "tie": "random",
    "words": "a",
    "compat": "paper",
    "prefix": "an image of a",
    "momentum": "on",
    "steps": 2,
    "layers": 2,
    "candidates": 2,
}
"""A value that no published row has."""


def authors_spec(row):
    """The spec of a row, written out here for a second time."""
    fine = row.table.startswith("fc")
    values = {"model": B16, "method": row.method, "templates": row.templates, "settings": dict(row.settings)}
    values["keep"] = row.keep if row.method == "zero" else None
    if row.model == "CLIP-ViT-B-16 (LAION2B)":
        values["model"] = LAION
    if row.model in ("CoOp", "MaPLe"):
        values["model"] = f"{row.model.lower()}:weights.pth@{B16}"
    if row.model.endswith("L-14"):
        values |= {"model": L14} if row.method == "zero-shot" else {"teacher": L14}
    if row.row.endswith("prompt"):
        values["model"] = f"coop:vit_b16_ep50.pth@{B16}"
    if row.row.endswith("image"):
        values["settings"]["prefix"] = "a_photo_of_a"
    if row.method in ("tpt", "rlcf"):
        values |= {"templates": None, "augment": "augmix" if fine and row.model != "MaPLe" else "crops"}
    if row.method == "promptalign":
        values["settings"] |= {"statistics": "imagenet.safetensors"}
    if fine and row.model == "MaPLe" and row.method in ("tpt", "promptalign"):
        values["settings"]["lr"] = 5e-4
    return RunSpec("imagenet-a", **values)


def found(spec, layout, tmp_path):
    return match(Run(tmp_path, spec, None, 1), layout=find_layout(layout))


@pytest.mark.parametrize(
    ("layout", "row"), ROWS, ids=lambda x: x if isinstance(x, str) else f"{x.table}-{x.model}-{x.row}"
)
def test_what_the_authors_ran_is_the_row_and_one_change_is_not(layout, row, tmp_path):
    spec = authors_spec(row)
    one = found(spec, layout, tmp_path)
    assert (one.row, one.differences) == (row, ())
    theirs = published_experiment(row)
    several = row.method not in ("zero-shot", "ensemble")
    changes = {"model": "pocket", "dtype": "bf16", "precision": "int8"}
    if several:
        changes |= {"views": 32, "keep": 0.9, "augment": "crops" if spec.augment == "augmix" else "augmix"}
        changes |= {"stop": "stop.json"}
    if several or row.model != "CLIP-ViT-B-16 + CLIP-ViT-L-14":
        changes["teacher"] = "pocket"
    if row.model not in ("CoOp", "MaPLe") and row.method in ("zero", "zero-shot", "ensemble"):
        changes["templates"] = "a {}."
    for field, value in changes.items():
        changed = experiment_of(replace(spec, **{field: value}))
        assert len(theirs.differences(changed)) >= 1, field
        assert experiment_of(spec) == theirs
    for scheme in {"coop", "maple"} - {theirs.initialisation}:
        other = replace(spec, model=f"{scheme}:weights.pth@{B16}")
        assert "what prompts start from" in str(theirs.differences(experiment_of(other)))


@pytest.mark.parametrize(
    ("layout", "row"), ROWS, ids=lambda x: x if isinstance(x, str) else f"{x.table}-{x.model}-{x.row}"
)
def test_each_constant_of_a_method_is_part_of_its_experiment(layout, row):
    spec = authors_spec(row)
    for name in CONSTANTS.get(row.method, ()):
        if name == "words" and row.model in ("CoOp", "MaPLe"):
            continue  # learned prompts stand there
        if name == "tune":
            value = "prompt" if spec.settings["tune"] == "image" else "image"
        else:
            value = CHANGED.get(name, 0.123)
        changed = experiment_of(replace(spec, settings=spec.settings | {name: value}))
        assert published_experiment(row).differences(changed), name
    for name in COMPUTING.get(row.method, ()):
        changed = experiment_of(replace(spec, settings=spec.settings | {name: "another"}))
        assert not published_experiment(row).differences(changed), name


def test_no_two_rows_of_a_layout_are_one_experiment():
    for layout in ("nds", "fine-grained"):
        found = [published_experiment(row) for row in published_rows(find_layout(layout))]
        assert len(set(found)) == len(found)


OUTSIDE = {
    "dataset": "its number is another",
    "classes": "as the dataset",
    "root": "where it lies",
    "seed": "several are averaged",
    "order": "streaming methods, which the paper does not have",
    "limit": "a subset is no full split",
    "device": "where it is computed",
    "runtime": "what computes it",
    "disagreement": "with adaptive views only",
    "fingerprint": "of the dataset",
    "stop_fingerprint": "of the file of stop",
    "text_head": "the texts' model is compared",
    "text_head_fingerprint": "as above",
    "detail": "what is recorded",
}
"""Fields of a run that are no part of its experiment, and why."""


def test_every_field_of_a_run_is_part_of_its_experiment_or_named_here():
    spec = authors_spec(next(row for _, row in ROWS if row.method == "zero"))
    changes = {
        "model": LAION,
        "method": "mta",
        "settings": {"tie": "random"},
        "views": 32,
        "stop": "stop.json",
        "keep": 0.4,
        "templates": "a {}.",
        "teacher": L14,
        "augment": "augmix",
        "dtype": "bf16",
        "precision": "int8",
    }
    assert set(changes) | set(OUTSIDE) | {"text_head_model"} == {each.name for each in fields(RunSpec)}
    for field, value in changes.items():
        assert experiment_of(replace(spec, **{field: value})) != experiment_of(spec), field


WRONG = [
    ("nds", {"model": B16, "views": "adaptive", "stop": "stop.json"}),
    ("nds", {"model": B16, "views": "adaptive"}),
    ("nds", {"model": B16, "dtype": "bf16"}),
    ("nds", {"model": B16, "method": "tpt", "keep": 0.9}),
    ("fine-grained", {"model": B16, "method": "tpt"}),
    ("nds", {"model": B16, "method": "tpt", "augment": "augmix"}),
    ("nds", {"model": B16, "teacher": L14, "method": "rlcf", "settings": {"tune": "prompt"}}),
    ("nds", {"model": B16, "teacher": L14, "method": "rlcf", "settings": {"tune": "image"}}),
    ("fine-grained", {"model": f"maple:w@{B16}", "method": "promptalign", "settings": {"statistics": "s"}}),
    ("fine-grained", {"model": f"maple:w@{B16}", "method": "promptalign", "settings": {"statistics": "s", "lr": 4e-2}}),
    ("nds", {"model": f"maple:w@{B16}", "method": "promptalign", "settings": {"statistics": "s", "lr": 5e-4}}),
    ("nds", {"model": f"maple:w@{B16}", "method": "promptalign", "settings": {"statistics": "s", "compat": "paper"}}),
    ("nds", {"model": "clip-b16"}),
    ("nds", {"model": "clip-b16", "text_head": "head.npy"}),
    ("nds", {"model": B16, "text_head": "head.npy", "text_head_model": "clip-b16"}),
]


@pytest.mark.parametrize(("layout", "values"), WRONG, ids=str)
def test_these_are_other_experiments(layout, values, tmp_path):
    assert found(RunSpec("imagenet-a", **values), layout, tmp_path).differences


SAME = [
    ("nds", {"model": B16, "stop": "exact"}, "Zero"),
    ("nds", {"model": B16, "dtype": "fp16", "settings": {"compat": "paper"}}, "Zero"),
    ("nds", {"model": B16, "templates": "a photo of a {}."}, "Zero"),
    ("nds", {"model": B16, "method": "zero-shot", "templates": "ensemble", "views": 3}, "Ensemble"),
    ("nds", {"model": f"maple:w@{B16}", "method": "promptalign", "settings": {"statistics": "s"}}, "PromptAlign"),
    (
        "fine-grained",
        {"model": f"maple:w@{B16}", "method": "promptalign", "settings": {"statistics": "s", "lr": 5e-4}},
        "PromptAlign",
    ),
    ("nds", {"model": f"coop:w@{B16}", "teacher": L14, "method": "rlcf"}, "RLCF t=3 prompt"),
    ("nds", {"model": B16, "method": "tpt", "settings": {"chunk": 8, "record_marginal": True}}, "TPT"),
]


@pytest.mark.parametrize(("layout", "values", "row"), SAME, ids=str)
def test_these_are_the_same_experiment(layout, values, row, tmp_path):
    one = found(RunSpec("imagenet-a", **values), layout, tmp_path)
    assert (one.row.row, one.differences) == (row, ())


def test_a_tower_with_the_models_own_text_vectors_differs_by_its_int8_weights_alone(tmp_path):
    one = found(RunSpec("imagenet-a", model="clip-b16", text_head="head.npy"), "nds", tmp_path)
    assert one.int8_tower
    assert not found(RunSpec("imagenet-a", model="clip-b16"), "nds", tmp_path).int8_tower
    for maker, same in ((B16, True), ("hf:openai/clip-vit-base-patch16", True), ("clip-b16", False), (LAION, False)):
        spec = RunSpec("imagenet-a", model="clip-b16", text_head="head.npy", text_head_model=maker)
        assert found(spec, "nds", tmp_path).int8_tower == same, maker


@pytest.mark.parametrize("name", CONSTANTS)
def test_the_constants_are_the_fields_and_defaults_of_the_methods(name):
    if name not in ("zero", "zero-shot"):
        pytest.importorskip("torch")
    found = {
        each.name: each.default
        for each in fields(METHODS.get(name))
        if each.name not in (*COMPUTING.get(name, ()), "keep")
    }
    assert found == CONSTANTS[name]


def test_presets_of_every_row_are_those_of_the_authors():
    for row in paper_rows():
        if row.method != "augmented":
            assert set(authors_settings(row)) <= {"lr", "prefix"}
            assert authors_augment(row) in ("crops", "augmix")
