"""Which of the paper's numbers a run is held against."""

import pytest

from tests.report.run_folders import answers, write_run
from viewvote.report.layouts import find_layout
from viewvote.report.published import match, published_rows
from viewvote.runs.read import load_run

B16, L14 = "open_clip:ViT-B-16/openai", "hf:openai/clip-vit-large-patch14"


def test_layouts_have_the_rows_of_their_tables_once():
    assert len(published_rows(find_layout("nds"))) == 13 + 5 + 3 + 4
    assert len(published_rows(find_layout("fine-grained"))) == 15 + 5 + 4
    assert published_rows(find_layout("free")) == ()


def found(tmp_path, layout="nds", **spec):
    return match(load_run(write_run(tmp_path / "run", answers(1, 1), **spec)), layout=find_layout(layout))


@pytest.mark.parametrize(
    ("spec", "table", "title"),
    [
        ({"model": B16}, "nds", "Zero, CLIP-ViT-B-16"),
        ({"model": B16, "keep": 0.1}, "nds-inherited", "Zero, CLIP-ViT-B-16, keep 0.1"),
        ({"model": B16, "templates": "ensemble"}, "nds", "Zero+Ensemble, CLIP-ViT-B-16"),
        ({"model": B16, "settings": {"compat": "paper"}}, "nds", "Zero, CLIP-ViT-B-16"),
        ({"model": B16, "teacher": L14}, "nds", "Zero, CLIP-ViT-B-16 + CLIP-ViT-L-14"),
        ({"model": L14, "method": "zero-shot", "views": 1}, "nds", "Zero-Shot, CLIP-ViT-L-14"),
        ({"model": B16, "method": "zero-shot", "templates": "ensemble"}, "nds", "Ensemble, CLIP-ViT-B-16"),
        ({"model": f"maple:w.pth@{B16}", "method": "tpt"}, "nds", "TPT, MaPLe"),
        ({"model": f"coop:w.pth@{B16}"}, "nds_coop", "Zero, CoOp"),
        (
            {"model": B16, "teacher": L14, "method": "rlcf", "settings": {"tune": "image", "prefix": "a_photo_of_a"}},
            "nds",
            "RLCF t=3 image, CLIP-ViT-B-16 + CLIP-ViT-L-14",
        ),
    ],
)
def test_the_same_experiment_is_found(tmp_path, spec, table, title):
    match_ = found(tmp_path, **spec)
    assert (match_.row.table, match_.title, match_.differences) == (table, title, ())


@pytest.mark.parametrize(
    ("spec", "difference"),
    [
        ({"model": "pocket"}, "the model (pocket)"),
        ({"model": B16, "views": 32}, "the number of views (32)"),
        ({"model": B16, "keep": 0.5}, "keep (0.5)"),
        ({"model": B16, "templates": "a {}."}, "the templates (a {}.)"),
        ({"model": B16, "settings": {"tie": "random"}}, "the method's settings (tie random)"),
        ({"model": B16, "augment": "augmix"}, "the augmentation (augmix)"),
        ({"model": B16, "precision": "int8"}, "the precision (int8)"),
        ({"model": B16, "teacher": "pocket"}, "the teacher (pocket)"),
    ],
)
def test_what_is_different_is_said(tmp_path, spec, difference):
    assert found(tmp_path, **spec).differences == (difference,)


def test_a_method_that_the_paper_does_not_have_has_no_row(tmp_path):
    assert found(tmp_path, model=B16, method="mta") is None
    assert found(tmp_path, layout="free", model=B16) is None
