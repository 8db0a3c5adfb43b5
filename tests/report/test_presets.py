"""Presets are what the authors ran."""

import pytest

from viewvote.errors import UnknownNameError
from viewvote.report.layouts import find_layout
from viewvote.report.presets import needs, preset_values, presets, row_name, with_preset
from viewvote.report.published import match, published_rows
from viewvote.runs.plan import plan_runs
from viewvote.runs.read import Run

B16, L14 = "open_clip:ViT-B-16/openai", "open_clip:ViT-L-14/openai"


def preset(**values):
    (found,) = with_preset(plan_runs(values), given=values)
    return found


@pytest.mark.parametrize(
    ("values", "settings", "augment"),
    [
        ({"method": "tpt", "model": B16, "dataset": "dtd"}, {}, "augmix"),
        ({"method": "tpt", "model": B16, "dataset": "imagenet-a"}, {}, "crops"),
        ({"method": "tpt", "model": f"maple:w@{B16}", "dataset": "dtd"}, {"lr": 5e-4}, "crops"),
        ({"method": "tpt", "model": f"maple:w@{B16}", "dataset": "imagenet-r"}, {"lr": 4e-2}, "crops"),
        ({"method": "promptalign", "model": f"maple:w@{B16}", "dataset": "pets"}, {"lr": 5e-4}, "crops"),
        ({"method": "rlcf", "model": f"coop:w@{B16}", "teacher": L14, "dataset": "pets"}, {}, "augmix"),
        (
            {"method": "rlcf", "model": B16, "teacher": L14, "dataset": "imagenet", "settings": {"tune": "image"}},
            {"tune": "image", "prefix": "a_photo_of_a"},
            "crops",
        ),
        ({"method": "dota", "dataset": "imagenet"}, {"eta": 0.2, "rho": 0.005}, "crops"),
        ({"method": "zero", "dataset": "pets"}, {}, "crops"),
        ({"method": "mta", "dataset": "pets"}, {}, "crops"),
    ],
    ids=str,
)
def test_the_authors_settings_by_method_model_and_suite(values, settings, augment):
    found = preset(**values)
    assert (found.settings, found.augment) == (settings, augment)


def test_what_the_user_gives_stays():
    found = preset(method="tpt", model=f"maple:w@{B16}", dataset="dtd", settings={"lr": 0.1}, augment="augmix", views=8)
    assert (found.settings, found.augment, found.views) == ({"lr": 0.1}, "augmix", 8)


@pytest.mark.parametrize("layout", ["nds", "fine-grained"])
def test_every_row_has_a_preset_that_is_its_experiment(layout, tmp_path):
    for row in published_rows(find_layout(layout)):
        values = preset_values(row_name(row)) | {"dataset": "imagenet-a" if layout == "nds" else "dtd", "model": B16}
        if row.model in ("CoOp", "MaPLe"):
            values["model"] = f"{row.model.lower()}:w@{B16}"
        if "LAION" in row.model:
            values["model"] = "open_clip:ViT-B-16/laion2b_s34b_b88k"
        if row.model.endswith("L-14"):
            values |= {"model": L14} if row.method == "zero-shot" else {"teacher": L14}
        if row.row.endswith("prompt"):
            values["model"] = f"coop:w@{B16}"
        if row.keep == 0.1:
            values["keep"] = 0.1
        found = match(Run(tmp_path, preset(**values), None, 1), layout=find_layout(layout))
        assert (found.row, found.differences) == (row, ())


def test_names_of_presets():
    assert presets()[:3] == ["paper", "zero-shot", "ensemble"]
    assert "rlcf-t3-image" in presets()
    assert preset_values("paper") == {}
    with pytest.raises(UnknownNameError, match="rlcf-t3-image"):
        preset_values("rlcf-t3-images")


def test_needs_are_named():
    rows = {(row.model, row_name(row)): row for row in published_rows(find_layout("nds"))}
    assert needs(rows["MaPLe", "promptalign"]) == [
        "CLIP-ViT-B-16",
        "MaPLe's released prompts",
        "source statistics of ImageNet",
    ]


@pytest.mark.parametrize("name", ["dn", "frolic"])
def test_a_correction_by_other_images_is_a_stream_of_zero_shot_as_its_authors_ran_it(name):
    assert preset_values(name) == {"method": "context", "settings": {"pull": name, "vote": "zero-shot"}}
