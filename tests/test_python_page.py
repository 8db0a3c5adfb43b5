"""Every block of docs/guides/python.md runs, in order, one after the other in one namespace."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from viewvote.classify.feature_files import ENCODING, IMAGES, ROWS
from viewvote.classify.features import Encoding, ImageFacts

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "docs" / "guides" / "python.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(python|bash)\n(.*?)^```", TEXT, flags=re.MULTILINE | re.DOTALL)


@pytest.fixture
def beside_the_examples(tmp_path, monkeypatch):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)


def test_the_blocks_run(beside_the_examples):
    names = {"__name__": "page"}
    for language, block in BLOCKS:
        if language == "python":
            exec(compile(block, "docs/guides/python.md", "exec"), names)
            continue
        for line in block.splitlines():
            done = subprocess.run(
                [sys.executable, "-m", *shlex.split(line)], capture_output=True, text=True, timeout=120
            )
            assert done.returncode == 0, done.stderr
    assert f"# in memory: {names['features']!r}" in TEXT
    assert names["prediction"].label == "cat"
    assert names["clf"].predict(names["features"]).tolist() == ["astronaut", "cat", "coffee cup", "rocket"]
    assert Path("why.png").stat().st_size > 0


def test_the_table_of_the_format_names_every_file_and_key():
    table = TEXT.split("| file |")[1].split("\n\n")[0]
    named = set(re.findall(r"`([\w.]+)`", table))
    keys = {*Encoding.__dataclass_fields__, *ImageFacts.__dataclass_fields__}
    assert {ENCODING, IMAGES, ROWS, "format", "images", *keys} <= named
