"""What a user asks for becomes calibrated thresholds, or an error that says how to get them."""

import json

import pytest

from viewvote.errors import UsageError
from viewvote.stopping import Adaptive
from viewvote.stopping.adaptive import Calibration, read_calibrations, shipped_calibrations


def write(path, *calibrations):
    path.write_text(json.dumps({"calibrations": [one.to_dict() for one in calibrations]}))
    return path


def calibration(disagreement=0.01, threshold=0.75, keep=0.3):
    return Calibration(16, keep, disagreement, (8, 16), (threshold,))


def test_what_ships_covers_the_default_and_says_where_it_comes_from():
    rule = Adaptive().rule(0.3)
    assert rule.rounds == (4, 8, 12, 16, 20, 24, 28, 32, 40, 48, 56, 64)
    for one in shipped_calibrations():
        assert one.held_back["n"] >= 100
        assert one.held_back["agreement_interval"][1] >= 1 - one.disagreement
        assert one.provenance["runs"][0]["model"] == "pocket"


def test_a_higher_accepted_rate_never_needs_more_views():
    for keep in {one.keep for one in shipped_calibrations()}:
        found = sorted((one for one in shipped_calibrations() if one.keep == keep), key=lambda one: one.disagreement)
        used = [one.fit["views_used"] for one in found]
        assert used == sorted(used, reverse=True)


def test_the_largest_calibrated_rate_that_is_not_above_the_asked_one_is_taken(tmp_path):
    path = write(tmp_path / "stop.json", calibration(0.01, 0.75), calibration(0.05, 0.5))
    for asked, threshold in ((0.01, 0.75), (0.04, 0.75), (0.05, 0.5), (0.9, 0.5)):
        assert Adaptive(budget=16, disagreement=asked, calibration=path).rule(0.3).thresholds == (threshold,)
    with pytest.raises(UsageError, match=r"the least is 0\.01"):
        Adaptive(budget=16, disagreement=0.005, calibration=path).rule(0.3)
    with pytest.raises(UsageError, match=r"known \(views, keep\): \(16, 0\.3\)"):
        Adaptive(budget=16, calibration=path).rule(0.25)


def test_calibrations_read_back_as_they_were_written(tmp_path):
    one = calibration(threshold=None)
    assert read_calibrations(write(tmp_path / "stop.json", one)) == (one,)


@pytest.mark.parametrize(
    "text", ["", "[]", '{"calibrations": [{"budget": 8}]}', '{"calibrations": 3}', '{"calibrations": [3]}']
)
def test_another_file_is_refused(tmp_path, text):
    path = tmp_path / "other.json"
    path.write_text(text)
    with pytest.raises(UsageError, match=r"other\.json is not a file of viewvote calibrate-stop"):
        read_calibrations(path)
    with pytest.raises(UsageError, match="cannot read the calibration"):
        read_calibrations(tmp_path / "missing.json")


@pytest.mark.parametrize("wrong", [{"disagreement": 0}, {"disagreement": 1}, {"budget": 0}, {"budget": 2.5}])
def test_wrong_arguments_are_errors(wrong):
    with pytest.raises(UsageError):
        Adaptive(**wrong)
