"""The doctor tells what is here and tests it."""

import json
import sys
import tomllib
from pathlib import Path

from tests.cli.as_process import viewvote


def test_the_doctor_passes_here():
    done = viewvote("doctor", "--json")
    report = json.loads(done.stdout)
    assert done.returncode == 0
    assert report["self-test"]["result"] == "passed"
    assert report["core"]["numpy"] != "missing"
    with (Path(__file__).parents[2] / "pyproject.toml").open("rb") as file:
        assert set(report["extras"]) == set(tomllib.load(file)["project"]["optional-dependencies"])
    assert report["batches"]["pocket"] == "32 views (each view costs the same in any batch: not measured)"


def test_the_doctor_speaks_plainly_and_sees_a_bad_cache(tmp_path):
    (tmp_path / "file").write_text("")
    done = viewvote("doctor", env={"VIEWVOTE_CACHE": str(tmp_path / "file" / "x")})
    assert "self-test" in done.stdout.decode()
    assert "NOT writable: set VIEWVOTE_CACHE" in done.stdout.decode()


def test_what_is_shared_is_a_block_without_paths(tmp_path):
    done = viewvote("doctor", "--share", env={"VIEWVOTE_CACHE": str(tmp_path), "HF_HOME": str(tmp_path / "hub")})
    text = done.stdout.decode()
    assert text.startswith("```text\nviewvote\n")
    assert text.endswith("```\n")
    assert "text heads       writable\n" in text
    assert "result           passed" in text
    assert not [path for path in (str(tmp_path), sys.executable, str(Path.home())) if path in text]


def test_two_formats_at_once_are_a_mistake():
    done = viewvote("doctor", "--share", "--json")
    assert done.returncode == 2
    assert "give one of them" in done.stderr.decode()
