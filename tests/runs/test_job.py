"""A job fills in what decides its records: the calibration's contents, not only its name."""

from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from tests.runs.colour_runs import colour_folder, thresholds
from viewvote.errors import UsageError
from viewvote.runs import RunSpec
from viewvote.runs.job import open_job


@pytest.fixture
def photos(tmp_path):
    return colour_folder(tmp_path / "colours", each=1)


@pytest.fixture
def calibration(tmp_path):
    return Path(thresholds(tmp_path / "stop.json", 0.9))


def opened(photos, calibration, **changes):
    values = {"dataset": str(photos), "model": "toy", "views": "adaptive", "stop": str(calibration)}
    return open_job(RunSpec(**values | changes)).spec


def test_a_file_of_thresholds_with_other_contents_is_another_run(photos, calibration):
    first = opened(photos, calibration)
    assert first.stop_fingerprint == sha256(calibration.read_bytes()).hexdigest()[:12]
    assert opened(photos, calibration).digest == first.digest
    thresholds(calibration, 0.8)
    assert opened(photos, calibration).digest != first.digest
    with pytest.raises(UsageError, match=r"stop\.json is not the one of the spec.*remove the key stop_fingerprint"):
        open_job(first)


def test_a_file_of_thresholds_goes_by_its_absolute_path(photos, calibration, monkeypatch):
    monkeypatch.chdir(calibration.parent)
    assert opened(photos, "stop.json") == opened(photos, calibration)


def test_a_file_of_thresholds_that_cannot_be_read_is_named(photos, tmp_path):
    with pytest.raises(UsageError, match=r"cannot read the calibration .*none\.json: No such file"):
        opened(photos, tmp_path / "none.json")


@pytest.mark.parametrize("stop", [None, "exact"])
def test_a_run_without_such_a_file_is_the_run_it_was(photos, stop):
    spec = opened(photos, stop, stop=stop, views=64)
    assert spec.stop_fingerprint is None
    assert "stop_fingerprint" not in spec.to_toml()
    fixed = replace(spec, dataset="/data/colours", fingerprint="ab")
    assert fixed.digest[:12] == {None: "d04bf7b619b4", "exact": "4b32c31e965c"}[stop]
