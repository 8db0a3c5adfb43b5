"""The doctor tells what is here and tests it."""

import json
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
