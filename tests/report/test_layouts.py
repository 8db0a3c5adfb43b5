"""Layouts of tables as data: the shipped ones, and a user's own file."""

import pytest

from tests.report.run_folders import answers, write_run
from viewvote.datasets import suite
from viewvote.errors import UnknownNameError, UsageError
from viewvote.report.formats.render import render
from viewvote.report.layouts import SHIPPED, AverageOf, Layout, find_layout, load_layout
from viewvote.report.paper import paper_tables
from viewvote.report.table import build_table
from viewvote.runs.read import load_runs

OWN = """
datasets = ["pets", "dtd", "my photos"]
paper = ["fc"]

[[averages]]
name = "Middle"
how = "median"

[[averages]]
name = "Known"
datasets = ["pets", "dtd"]
"""


def test_the_shipped_layouts_are_those_of_the_papers_tables():
    assert SHIPPED == ("fine-grained", "free", "nds")
    nds, fine = find_layout("nds"), find_layout("fine-grained")
    assert nds.datasets == tuple(suite("nds"))
    assert nds.averages == (AverageOf("Mean (5 sets)"), AverageOf("OOD-4", datasets=tuple(suite("nds")[1:])))
    assert fine.averages == (AverageOf("Mean"), AverageOf("Median", how="median"))
    assert set(nds.paper) == {name for name in paper_tables() if name.startswith("nds")}
    assert set(fine.paper) == {name for name in paper_tables() if name.startswith("fc")}
    assert find_layout("free") == Layout("free", averages=(AverageOf("Mean"),))


def test_a_users_layout_makes_a_table(tmp_path):
    (tmp_path / "birds.toml").write_text(OWN)
    for i, dataset in enumerate(["pets", "dtd", "my photos", "cars"]):
        folder = tmp_path / "runs" / str(i)
        write_run(folder, answers(1 + 2 * i, 9 - 2 * i), dataset=dataset, model="hf:openai/clip-vit-base-patch16")
    table = build_table(load_runs([tmp_path / "runs"]), layout=find_layout(tmp_path / "birds.toml"))
    assert (table.layout, table.datasets) == ("birds", ("pets", "dtd", "my photos"))
    assert table.heads == ("PETS", "DTD", "my photos")
    (row,) = table.rows
    assert {name: round(average.value, 6) for name, average in row.averages.items()} == {"Middle": 0.3, "Known": 0.2}
    assert row.match.row.table == "fc"
    assert row.published_averages["Middle"] is None  # the paper has no such dataset
    assert row.published_averages["Known"] == pytest.approx(
        (row.match.row.values["pets"] + row.match.row.values["dtd"]) / 2
    )
    assert "Not in this layout: cars." in table.notes
    assert render(table, "markdown").startswith("| Method | PETS | DTD | my photos | Middle | Known |")
    assert "heads" not in render(table, "json")


def test_a_file_may_name_its_layout_and_a_suite(tmp_path):
    (tmp_path / "a.toml").write_text('name = "shifts"\ndatasets = "nds"')
    assert load_layout(tmp_path / "a.toml") == Layout("shifts", tuple(suite("nds")))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("dataset = []", r"a\.toml has no key 'dataset'\. Did you mean 'datasets'\?"),
        ("datasets = []", r"a\.toml: datasets must be a suite's name or a list of datasets; got \[\]"),
        ('datasets = "ndz"', r"no suite, named in .*a\.toml 'ndz'. Did you mean 'nds'\?"),
        ('datasets = ["a", "a"]', r"a\.toml: datasets names one of them twice"),
        ('paper = ["table2"]', r"no table of the paper, named in .*a\.toml 'table2'"),
        ("averages = 3", "averages must be a list of tables; got 3"),
        ("averages = [3]", "averages 1 must be a table; got 3"),
        ("[[averages]]", r"a\.toml, averages 1: name is missing; expected a text"),
        ('[[averages]]\nname = "A"\nhow = "mode"', "averages 1: how must be 'mean' or 'median'; got 'mode'"),
        ('datasets = ["a"]\n[[averages]]\nname = "A"\ndatasets = ["b"]', "no dataset of the layout, named in .* 'b'"),
        ('[[averages]]\nname = "A"\n[[averages]]\nname = "A"', "two averages have the same name"),
        ("datasets = ", "is not TOML"),
    ],
)
def test_a_wrong_layout_names_the_file_the_key_and_what_is_expected(tmp_path, text, message):
    (tmp_path / "a.toml").write_text(text)
    with pytest.raises(UsageError, match=message):
        load_layout(tmp_path / "a.toml")


def test_what_is_neither_a_layout_nor_a_file_is_an_error(tmp_path):
    with pytest.raises(UnknownNameError, match=r"no layout 'ndss'\. Did you mean 'nds'"):
        find_layout("ndss")
    with pytest.raises(UsageError, match=r"cannot read .*none\.toml: No such file"):
        find_layout(tmp_path / "none.toml")
