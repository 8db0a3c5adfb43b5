"""Every block of the README and of the first page of the site runs, and what they say of the repository is so."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_extend import answers

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
START = (ROOT / "docs" / "start.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", f"{TEXT}\n{START}", flags=re.MULTILINE | re.DOTALL)


COMMANDS = {line for block in blocks("bash") for line in block.splitlines() if line.startswith("viewvote ")}


@pytest.fixture
def beside_the_examples(tmp_path, monkeypatch):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("block", blocks("python"))
def test_python_blocks_run(block, beside_the_examples):
    exec(compile(block, "a block", "exec"), {})


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_commands_run(command, beside_the_examples):
    done = subprocess.run([sys.executable, "-m", *shlex.split(command)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout


@pytest.mark.parametrize(("page", "times"), [(TEXT, 1), (START, 2)], ids=["README", "start"])
def test_the_answers_that_are_shown_are_those_of_the_command_before(page, times, beside_the_examples):
    found = re.findall(
        r"^(viewvote classify [^\n]+)\n```\n(?:(?!```bash).)*?^```text\n(.*?)^```", page, flags=re.M | re.S
    )
    assert len(found) == times
    for command, shown in found:
        done = subprocess.run(
            [sys.executable, "-m", *shlex.split(command)], capture_output=True, text=True, timeout=120
        )
        assert answers(shown) == answers(done.stdout)


def test_there_are_blocks():
    assert len(blocks("python")) >= 2
    assert len(COMMANDS) >= 5


def test_make_targets_and_links_exist():
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"`make (\w+)`", TEXT):
        assert f"\n{target}:" in makefile
    for link in re.findall(r"\]\(([^)#]+)\)", TEXT):
        assert link.startswith("http") or (ROOT / link).exists(), link


def test_it_stays_short():
    assert len(TEXT.splitlines()) <= 120
