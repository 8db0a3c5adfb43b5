"""The notebooks run from top to bottom, in an empty folder, and were committed with what they print, and small."""

import json
from pathlib import Path

import pytest

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")
pytest.importorskip("ipykernel")
PAGES = sorted((Path(__file__).parents[1] / "docs" / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_it_runs_and_prints_as_much_as_is_committed(page, tmp_path):
    notebook = nbformat.read(page, as_version=4)
    expected = [len(cell.outputs) > 0 for cell in notebook.cells if cell.cell_type == "code"]
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert [len(cell.outputs) > 0 for cell in notebook.cells if cell.cell_type == "code"] == expected
    assert any(expected)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_it_is_small_and_names_no_folder_of_its_author(page):
    text = page.read_text(encoding="utf-8")
    assert len(text) < 200_000
    assert "/home/" not in text
    assert "/tmp/" not in text
    assert all(cell.get("outputs") is not None for cell in json.loads(text)["cells"] if cell["cell_type"] == "code")


def test_there_are_two():
    assert [page.stem for page in PAGES] == ["researcher", "tour"]
