"""The map from the paper names what is there."""

import re
from functools import reduce
from importlib import import_module
from pathlib import Path

import pytest
from typer.testing import CliRunner

import viewvote
from tests.conftest import PHOTOS
from tests.runs.colour_runs import colour_folder
from tests.studies.study_runs import study_run
from viewvote.cli.commands import app

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "paper-map.md").read_text(encoding="utf-8")
NAMED = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", PAGE)
COMMANDS = sorted(set(re.findall(r"`viewvote ([^`]*)`", PAGE)))
PAPER = PHOTOS.parent / "paper" / "zero-paper.tex.txt"
FUNCTIONS = re.findall(r"`((?:\w+\.)+\w+)(?:\([^`]*\))?`", PAGE)


@pytest.mark.parametrize(("file", "test"), sorted(set(NAMED)))
def test_every_test_it_names_exists(file, test):
    source = (ROOT / file).read_text(encoding="utf-8")
    assert f"def {test}(" in source if test else "def test_" in source


def inside(owner, name):
    """What a package, module or class calls so; a dataclass's field may have no value there."""
    if name in getattr(owner, "__dataclass_fields__", {}) or hasattr(owner, name):
        return getattr(owner, name, None)
    return import_module(f"{owner.__name__}.{name}")


@pytest.mark.parametrize("name", sorted(set(FUNCTIONS)))
def test_every_function_it_names_exists(name):
    reduce(inside, name.split("."), viewvote)


@pytest.mark.skipif(not PAPER.exists(), reason="the paper's source is not here")
def test_every_equation_table_figure_and_algorithm_of_the_paper_is_there():
    source = PAPER.read_text(encoding="utf-8")
    labels = re.findall(r"\\label\{((?:tab|fig|alg|eq):[\w-]+)\}", source)
    assert len(labels) == len(set(labels)) > 25
    assert [label for label in labels if label not in PAGE] == []
    spans = re.findall(r"^\| Eq\. (\d+)(?: to (\d+))?", PAGE, flags=re.M)
    numbered = [n for first, last in spans for n in range(int(first), int(last or first) + 1)]
    assert numbered == list(range(1, source.count("\\begin{equation}") + 1))


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """What the page's placeholders stand for: runs with every detail, a run of the toy model, its photographs."""
    place = tmp_path_factory.mktemp("map")
    study_run(place / "detailed" / "a", images=12)
    folder = colour_folder(place / "photos", each=2)
    asked = ["eval", "--dataset", folder, "--model", "toy", "--views", "12", "--out", place / "made", "--quiet"]
    assert CliRunner().invoke(app, list(map(str, asked))).exit_code == 0
    made = next((place / "made").iterdir())
    found = {"RUNS": place / "detailed", "MADE": made, "PHOTOS": folder, "PLOT": place / "plot.svg"}
    return {word: str(path) for word, path in found.items()} | {"out": str(place / "out")}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_of_the_page_runs(command, places):
    if "PLOT" in command:
        pytest.importorskip("matplotlib")
    args = [places.get(word, word) for word in command.split()]
    if args[0] in ("eval", "reproduce"):
        args += ["--out", places["out"], "--quiet"]
    if "PLOT" in command:
        args += ["--overwrite"]  # each draws over the one before
    done = CliRunner().invoke(app, args)
    assert done.exit_code == 0, done.output
