"""The documentation site builds without a warning, and says what to do about a page that nothing leads to."""

import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree.ElementTree import parse

import pytest

pytest.importorskip("sphinx")
pytest.importorskip("furo")
pytest.importorskip("myst_nb")
ROOT = Path(__file__).parents[1]


def build(docs, out):
    strict = ["--fail-on-warning", "--keep-going", "--nitpicky", "--quiet"]
    command = [sys.executable, "-m", "sphinx", *strict, "-b", "html", str(docs), str(out)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    out = tmp_path_factory.mktemp("site")
    done = build(ROOT / "docs", out)
    assert done.returncode == 0, done.stderr
    return out


def test_every_page_is_built(site):
    pages = {path.relative_to(ROOT / "docs").with_suffix(".html") for path in (ROOT / "docs").rglob("*.md")}
    assert {page for page in pages if not (site / page).exists()} == set()


def test_every_notebook_is_a_page_with_what_its_cells_drew(site):
    assert "<img" in (site / "notebooks" / "tour.html").read_text(encoding="utf-8")
    assert (site / "notebooks" / "researcher.html").exists()


def test_every_command_has_its_options_on_the_page_of_commands(site):
    from typer.main import get_command

    from viewvote.cli.commands import app

    page = (site / "reference" / "cli.html").read_text(encoding="utf-8")
    names = get_command(app).commands
    assert {name for name in names if f'id="viewvote-{name}' not in page} == set()
    assert page.count("--labels-file") >= 2


def test_every_public_name_is_in_the_reference(site):
    import viewvote

    page = (site / "reference" / "api.html").read_text(encoding="utf-8")
    assert {name for name in viewvote.__all__ if f'id="viewvote.{name}"' not in page} == set()


def test_no_page_asks_another_server_for_anything(site):
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert 'src="http' not in text, page
        assert '<link rel="stylesheet" href="http' not in text, page


@pytest.mark.parametrize(
    ("file", "text", "complaint"),
    [
        ("lonely.md", "# Lonely\n", "is in no toctree: name it in the index of its section"),
        ("index.md", "# Home\n\n[there](nowhere.md)\n", "nowhere.md, which is not there"),
        ("index.md", "# Home\n\n[there](#nowhere)\n", "nowhere"),
    ],
)
def test_what_would_lead_nowhere_ends_the_build(tmp_path, file, text, complaint):
    docs = tmp_path / "docs"
    shutil.copytree(ROOT / "docs" / "extensions", docs / "extensions")
    settings = (ROOT / "docs" / "conf.py").read_text(encoding="utf-8")
    (docs / "conf.py").write_text(settings.replace("Path(__file__).parents[1]", f"Path({str(ROOT)!r})"), "utf-8")
    (docs / "index.md").write_text("# Home\n", encoding="utf-8")
    (docs / file).write_text(text, encoding="utf-8")
    done = build(docs, tmp_path / "out")
    assert done.returncode != 0
    assert complaint in done.stderr


@pytest.mark.parametrize("drawing", sorted((ROOT / "docs").rglob("*.svg")), ids=lambda path: path.name)
def test_every_drawing_is_one_that_a_browser_shows(drawing):
    root = parse(drawing).getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert root.get("viewBox")
