"""The published numbers are copied exactly."""

import re
from statistics import mean, median

import pytest

from tests.conftest import PHOTOS
from viewvote.datasets import CATALOG, suite
from viewvote.errors import UnknownNameError
from viewvote.methods import METHODS
from viewvote.report.paper import paper_rows

TABLES = ["nds", "fc", "nds_laion", "nds_coop", "fc_laion", "nds-inherited", "fc-inherited", "error_gap"]
PAPER = PHOTOS.parent / "paper" / "zero-paper.tex.txt"


def find(table, model, row):
    (found,) = [r for r in paper_rows(table=table) if (r.model, r.row) == (model, row)]
    return found


def test_values_stand_under_their_table_row_and_column():
    zero = find("nds", "CLIP-ViT-B-16", "Zero")
    assert zero.values == {
        "imagenet": 69.31,
        "imagenet-a": 59.61,
        "imagenet-v2": 64.16,
        "imagenet-r": 77.22,
        "imagenet-sketch": 48.40,
    }
    assert zero.std["imagenet-a"] == 0.19
    assert (zero.mean, zero.keep, zero.method, zero.templates) == (63.74, 0.3, "zero", "photo")
    ensemble = find("fc", "CLIP-ViT-B-16", "Zero+Ensemble")
    assert (ensemble.values["aircraft"], ensemble.std["aircraft"]) == (25.21, 0.47)
    assert (ensemble.median, ensemble.templates) == (68.30, "ensemble")
    rlcf = find("fc", "CLIP-ViT-B-16 + CLIP-ViT-L-14", "RLCF t=1 image")
    assert (rlcf.values["cars"], rlcf.settings) == (63.12, {"steps": 1, "tune": "image"})
    assert find("nds-inherited", "MaPLe", "Zero").values["imagenet-a"] == 64.65
    assert "imagenet" not in find("nds", "MaPLe", "Zero").values
    assert find("error_gap", "CLIP-ViT-B-16", "Augmented").values["food101"] == 83.25


def test_rows_are_chosen_by_table_and_dataset():
    assert [table for table in TABLES if paper_rows(table=table)] == TABLES
    assert len(paper_rows()) == 13 + 15 + 5 + 3 + 5 + 13 + 15 + 1
    assert len(paper_rows(table="nds", dataset="imagenet")) == 9  # MaPLe's group has no ImageNet
    with pytest.raises(UnknownNameError, match="Did you mean 'nds'"):
        paper_rows(table="ndss")


def test_rows_name_datasets_and_methods_that_exist():
    for row in paper_rows():
        assert set(row.std) <= set(row.values) <= set(CATALOG)
        assert row.method in METHODS or row.method == "augmented"
    assert set(find("fc", "MaPLe", "TPT").values) == set(suite("fine-grained"))


def test_printed_means_and_medians_follow_from_the_values():
    for row in paper_rows():
        values = list(row.values.values())
        assert row.mean is None or abs(mean(values) - row.mean) < 0.0051
        assert row.median is None or abs(median(values) - row.median) < 0.0051


@pytest.mark.skipif(not PAPER.is_file(), reason="needs the paper's source beside the photographs")
@pytest.mark.parametrize("table", [name for name in TABLES if name != "error_gap"])
def test_every_number_of_the_papers_table_is_there_in_its_order(table):
    text = PAPER.read_text()
    end = text.index(f"\\label{{tab:{table}}}")
    body = text[text.rindex("\\midrule", 0, end) : end]
    printed = re.findall(r"(?<![\d.-])\d\d\.\d\d", re.sub(r"\\pm\$?\d\.\d\d", "", body))
    ours = []
    for row in paper_rows(table=table):
        ours += [*row.values.values(), *(x for x in (row.mean, row.median) if x is not None)]
    assert [f"{value:.2f}" for value in ours] == printed
