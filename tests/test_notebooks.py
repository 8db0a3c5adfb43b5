"""The notebooks run from top to bottom, in an empty folder, and were committed with what they print, and small."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("nbclient")
pytest.importorskip("nbformat")
pytest.importorskip("ipykernel")
PAGES = sorted((Path(__file__).parents[1] / "docs" / "notebooks").glob("*.ipynb"))


RUN = """
import sys, nbclient, nbformat
notebook = nbformat.read(sys.argv[1], as_version=4)
nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": "."}}).execute()
nbformat.write(notebook, "ran.ipynb")
"""


def printing(path):
    """For every cell of code, whether it printed or drew something."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [bool(cell["outputs"]) for cell in cells if cell["cell_type"] == "code"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_it_runs_and_prints_where_its_committed_outputs_are(page, tmp_path):
    command = [sys.executable, "-c", RUN, str(page)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=400)
    assert done.returncode == 0, done.stderr[-3000:]
    assert printing(tmp_path / "ran.ipynb") == printing(page)
    assert any(printing(page))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_it_is_small_and_names_no_folder_of_its_author(page):
    text = page.read_text(encoding="utf-8")
    assert len(text) < 200_000
    assert "/home/" not in text
    assert "/tmp/" not in text
    assert all(cell.get("outputs") is not None for cell in json.loads(text)["cells"] if cell["cell_type"] == "code")


def test_there_are_two():
    assert [page.stem for page in PAGES] == ["researcher", "tour"]
