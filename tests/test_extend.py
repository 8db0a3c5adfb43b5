"""The recipes of docs/extend work as they are written: each page is followed from top to bottom in an empty folder.

A block whose first line is a comment with a file's name is that file. Other blocks of Python and bash are run; a block
of text after one is what it prints, with ... for what may differ.
"""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted(set((ROOT / "docs" / "extend").glob("*.md")) - {ROOT / "docs" / "extend" / "index.md"})
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)
FILE = re.compile(r"# ([\w.-]+\.(?:py|toml|txt))\n")
PROGRAMS = 'viewvote() { python -m viewvote "$@"; }\npython() { command "$PYTHON" "$@"; }\nset -e\n'


def run(language, text, folder, *, seconds=300, **more):
    """What the block prints, with more in its environment."""
    command = ["bash", "-c", PROGRAMS + text] if language == "bash" else [sys.executable, "-c", text]
    env = os.environ | {"PYTHON": sys.executable, "COLUMNS": "120"} | more
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=seconds)
    assert done.returncode == 0, f"{text}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def answers(text):
    """The image and the label of each row of a table of answers; shares may differ between processors."""
    head, *rows = text.splitlines()
    start = head.index("label")
    # What the command says of its work is on standard error.
    return {(row.split()[0], row[start:].split("  (")[0]) for row in rows if not row.startswith("viewvote: ")}


def follow(page, folder):
    """Follows the page; returns how many blocks were run and how many outputs compared."""
    printed, ran, compared = None, 0, 0
    for language, text in BLOCK.findall(page.read_text(encoding="utf-8")):
        named = FILE.match(text)
        if named:
            (folder / named[1]).write_text(text, encoding="utf-8")
        if language == "toml":
            assert named, f"no file's name: {text}"
            tomllib.loads(text)
        elif language == "text":
            expected = ".*".join(map(re.escape, text.rstrip("\n").split("...")))
            assert re.fullmatch(expected, printed.rstrip("\n"), flags=re.DOTALL), f"{text}\nis not\n{printed}"
            compared += 1
        elif not named:
            assert language in ("python", "bash"), f"nothing runs a block of {language}"
            printed = run(language, text, folder)
            ran += 1
    return ran, compared


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_recipe_works_as_it_is_written(page, tmp_path, monkeypatch):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.delenv("VIEWVOTE_DATASETS", raising=False)
    ran, compared = follow(page, tmp_path)
    assert ran
    assert compared, "a recipe shows what comes out of it"


def test_there_is_a_recipe_for_each_seam():
    assert {"dataset-card", "encoder", "layout", "method"} <= {page.stem for page in PAGES}


def test_a_recipe_that_prints_something_else_fails(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```python\nprint('one two three')\n```\n\n```text\none ... three\n```\n")
    assert follow(page, tmp_path) == (1, 1)
    page.write_text("```bash\necho one two\n```\n\n```text\none ... three\n```\n")
    with pytest.raises(AssertionError, match="is not"):
        follow(page, tmp_path)
