"""The LaTeX table: escaped, no wider than the page, and short where its cells are alike."""

import re
import shutil
import subprocess

import pytest

from tests.report.run_folders import answers, odd_table, write_run
from viewvote.datasets import CATALOG, suite
from viewvote.report.formats.latex import latex
from viewvote.report.layouts import find_layout
from viewvote.report.table import build_table
from viewvote.runs.read import load_runs

B16 = "open_clip:ViT-B-16/openai"


@pytest.fixture
def wide(tmp_path):
    """The widest of the paper's tables: ten datasets, two averages, and what the paper prints."""
    for i, name in enumerate(suite("fine-grained")):
        for seed in (0, 1):
            write_run(tmp_path / f"{name}-{seed}", answers(50 + i, 50 + seed), dataset=name, model=B16, seed=seed)
    return build_table(load_runs([tmp_path]), layout=find_layout("fine-grained"))


def test_it_is_booktabs_balanced_and_escaped(tmp_path):
    text = latex(odd_table(tmp_path))
    assert text.index("\\toprule") < text.index("\\midrule") < text.index("\\bottomrule")
    assert r"a\_b \& $<$c$>$|\%" in text
    assert r"\#1 \textasciitilde{}" in text
    assert r"\textasciicircum{} \textbackslash{}" in text
    bare = text.replace("\\{", "").replace("\\}", "")
    assert bare.count("{") == bare.count("}")
    assert text.count("\\begin{table*}") == text.count("\\end{table*}") == 1
    assert text.count("\\begin{tabular}") == text.count("\\end{tabular}")


def test_it_names_its_packages_and_is_never_wider_than_the_line(wide):
    text = latex(wide)
    assert text.startswith("% needs \\usepackage{booktabs,graphicx}\n")
    assert text.count("\\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{") == 2
    assert [len(columns) for columns in re.findall(r"\\begin\{tabular\}\{(lc+)\}", text)] == [7, 7]


def test_every_column_is_in_one_of_the_blocks_beside_the_method(wide):
    blocks = latex(wide).split("\\toprule\n")[1:]
    heads = [block.splitlines()[0].removesuffix(" \\\\").split(" & ") for block in blocks]
    assert [head[0] for head in heads] == ["Method", "Method"]
    assert heads[0][1:] + heads[1][1:] == [CATALOG[name].column for name in suite("fine-grained")] + ["Mean", "Median"]


def test_what_all_cells_share_is_told_once_in_the_caption(wide, tmp_path):
    text = latex(wide)
    assert text.count("full split, 2 seeds") == text.count("full split") == 1
    assert "All cells: full split, 2 seeds." in text.split("\\caption{")[1]
    assert "n 100" in text.split("\\caption{")[0]
    alike = latex(odd_table(tmp_path / "alike"))
    assert "All cells: n 100, full split, 1 seed." in alike
    write_run(tmp_path / "mixed" / "a", answers(1, 1), dataset="a", seed=0)
    write_run(tmp_path / "mixed" / "b", answers(2, 1), dataset="b", subset=True)
    mixed = latex(build_table(load_runs([tmp_path / "mixed"]), layout=find_layout("free")))
    assert "All cells: 1 seed." in mixed
    assert mixed.split("\\caption{")[0].count("subset") == 1


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs LaTeX")
def test_it_compiles_and_nothing_sticks_out(wide, tmp_path):
    (tmp_path / "doc.tex").write_text(
        "\\documentclass{article}\n\\usepackage{booktabs,graphicx}\n\\begin{document}\n"
        f"{latex(wide)}\n{latex(odd_table(tmp_path / 'other'))}\\end{{document}}\n"
    )
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "doc.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout[-2000:]
    assert b"Overfull" not in done.stdout
