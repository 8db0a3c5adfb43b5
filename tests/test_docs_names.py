"""Every file, module, program and link that the pages, the Makefile and pyproject.toml name is there."""

import re
from functools import reduce
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.test_paper_map import inside
from viewvote.errors import MissingExtraError

ROOT = Path(__file__).parents[1]
FOLDERS = ("docs", "examples", "models", "training", "benchmarks", ".github")
PAGES = sorted([*ROOT.glob("*.md"), *(page for folder in FOLDERS for page in (ROOT / folder).rglob("*.md"))])
SETTINGS = [ROOT / "Makefile", ROOT / "pyproject.toml", ROOT / ".ci" / "run"]
PATH = re.compile(
    r"(?<![\w/.-])(?:src/viewvote|tests|benchmarks|training|docs|examples|models|requirements)/[\w./*-]*[\w*/]"
)
MODULE = re.compile(r"(?<![\w/.-])viewvote(?!\.(?:json|toml)\b)(?:\.[A-Za-z_]\w*)+")  # not a file
PROGRAM = re.compile(r"python -m ([\w.]+)")
BESIDE = re.compile(r"`(\w+\.(?:py|txt))`")
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


def each(pattern, pages):
    """The page and the name, for every name in them that the pattern finds."""
    found = {(str(page.relative_to(ROOT)), name) for page in pages for name in pattern.findall(page.read_text("utf-8"))}
    return sorted(found)


def is_placeholder(name):
    """Whether a part of the name is a word in capitals, for the reader to fill in."""
    return any(part.isupper() and part != "README" for part in re.split(r"[/.]", name))


@pytest.mark.parametrize(("page", "path"), each(PATH, [*PAGES, *SETTINGS]))
def test_every_file_that_a_page_names_exists(page, path):
    assert is_placeholder(path) or any(ROOT.glob(path.rstrip("/"))), f"{page} names {path}, which is not there"


@pytest.mark.parametrize(("page", "name"), each(MODULE, [*PAGES, *SETTINGS]))
def test_every_module_and_function_that_a_page_names_exists(page, name):
    try:
        reduce(inside, name.split(".")[1:], import_module("viewvote"))
    except ModuleNotFoundError as error:
        missing = str(error.name)
        assert not missing.startswith("viewvote"), f"{page} names {name}, but there is no {missing}"
        pytest.skip(f"{name} needs {missing}")
    except MissingExtraError as error:
        pytest.skip(f"{name}: {error}")


@pytest.mark.parametrize(("page", "program"), each(PROGRAM, [*PAGES, *SETTINGS]))
def test_every_program_that_a_page_runs_exists(page, program):
    assert is_placeholder(program) or find_spec(program), f"{page} runs python -m {program}, which is not there"


@pytest.mark.parametrize(("page", "name"), each(BESIDE, (ROOT / "training").rglob("*.md")))
def test_files_that_the_training_pages_name_lie_beside_them(page, name):
    assert (ROOT / page).with_name(name).is_file()


@pytest.mark.parametrize(("page", "link"), each(LINK, PAGES))
def test_every_link_leads_somewhere(page, link):
    assert link.startswith(("https://", "mailto:")) or (ROOT / page).parent.joinpath(link).exists()


def test_names_are_found():
    assert ("docs/paper-map.md", "tests/test_vote.py") in each(PATH, PAGES)
    assert ("Makefile", "src/viewvote/metrics/*") in each(PATH, SETTINGS)
    assert ("Makefile", "benchmarks.views") in each(PROGRAM, SETTINGS)
    assert ("README.md", "docs/guides/adaptive.md") in each(LINK, PAGES)
    assert [name for _, name in each(MODULE, SETTINGS)]
    assert not [page for page in PAGES if ".venv" in page.parts]
