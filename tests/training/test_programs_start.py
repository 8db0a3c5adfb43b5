"""Every module of benchmarks/ and training/ is imported as part of its package; every program there has a --help."""

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("benchmarks", "training")
FILES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
NAMES = {path: ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for path in FILES}
PROGRAMS = [name for path, name in NAMES.items() if '__name__ == "__main__"' in path.read_text(encoding="utf-8")]


def load(name):
    """The module; a test of one that needs a package which is not installed skips."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        missing = str(error.name).partition(".")[0]
        if missing in {*PACKAGES, "viewvote", "tests"}:
            raise
        pytest.skip(f"{name} needs {missing}")


@pytest.mark.parametrize("name", NAMES.values())
def test_every_module_can_be_imported_from_the_checkout(name):
    assert load(name).__doc__


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_program_explains_itself_without_data(name, monkeypatch, capsys):
    program = load(name)
    monkeypatch.setattr(sys, "argv", [name, "--help"])
    with pytest.raises(SystemExit) as end:
        program.main()
    assert end.value.code == 0
    assert " ".join(program.__doc__.split())[:40] in " ".join(capsys.readouterr().out.split())


def test_a_program_starts_as_a_module_of_its_package():
    command = [sys.executable, "-m", "benchmarks.kill_trials", "--help"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("usage: ")


@pytest.mark.parametrize("path", FILES, ids=NAMES.values())
def test_no_module_changes_the_search_path_or_imports_tests(path):
    source = path.read_text(encoding="utf-8")
    assert "sys.path" not in source
    assert not re.search(r"^\s*(from|import) (tests\b|conftest\b)", source, flags=re.MULTILINE)


def test_there_are_programs_of_both_packages():
    assert {"benchmarks.views", "training.fit_joint", "training.clip_b16.tune_head"} < {*NAMES.values()}
    assert len(PROGRAMS) > 20
