"""Every block of the README runs."""

import re
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```", README.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS)
def test_python_blocks_run(block, monkeypatch):
    monkeypatch.chdir(README.parent)
    exec(compile(block, "README.md", "exec"), {})


def test_there_are_blocks():
    assert BLOCKS
