"""What a user asks for becomes calibrated thresholds, or an error that says how to get them."""

import json
from dataclasses import replace

import pytest

from viewvote.errors import UsageError
from viewvote.stopping import Adaptive
from viewvote.stopping.adaptive import Calibration, read_calibrations, shipped_calibrations
from viewvote.stopping.rules import adaptive_rounds


def write(path, *calibrations):
    path.write_text(json.dumps({"calibrations": [one.to_dict() for one in calibrations]}))
    return path


def calibration(disagreement=0.01, threshold=0.75, keep=0.3):
    return Calibration(16, keep, disagreement, (8, 16), (threshold,))


def test_what_ships_covers_the_default_and_says_where_it_comes_from():
    for vote in ("votes", "anchored"):
        assert Adaptive().is_calibrated(0.3, vote=vote)
        assert Adaptive().rule(0.3, vote=vote).rounds == adaptive_rounds(64)
    assert not Adaptive().is_calibrated(0.25)
    assert shipped_calibrations()[0].model == "pocket"  # what a model without thresholds of its own gets
    for one in shipped_calibrations():
        assert one.held_back["n"] >= 100
        assert one.held_back["agreement_interval"][1] >= 1 - one.disagreement
        assert one.provenance["seeds"] == [0, 1]
        assert sum(map(sum, one.provenance["images"].values())) == one.fit["n"]


def test_noise_is_the_level_of_that_name_and_strict_where_there_is_none(tmp_path):
    noisy = replace(calibration(0.04, 0.6), level="noise")
    path = write(tmp_path / "stop.json", calibration(0.01, 0.9), noisy, calibration(0.05, 0.5))
    assert Adaptive(budget=16, calibration=path).rule(0.3).thresholds == (0.6,)
    assert Adaptive(budget=16, calibration=path, disagreement="strict").rule(0.3).thresholds == (0.9,)
    plain = write(tmp_path / "plain.json", calibration(0.01, 0.9), calibration(0.05, 0.5))
    assert Adaptive(budget=16, calibration=plain).rule(0.3).thresholds == (0.9,)


def test_a_model_has_its_own_thresholds_and_others_those_of_the_first(tmp_path):
    rows = [replace(calibration(0.01, needed), model=model) for model, needed in (("a", 0.9), ("b", 0.6))]
    asked = Adaptive(budget=16, calibration=write(tmp_path / "stop.json", *rows))
    assert [asked.rule(0.3, model=model).thresholds for model in ("a", "b", "c")] == [(0.9,), (0.6,), (0.9,)]


def test_thresholds_of_another_vote_are_not_used(tmp_path):
    path = write(tmp_path / "stop.json", calibration())
    with pytest.raises(UsageError, match="method anchored with 16 views"):
        Adaptive(budget=16, calibration=path).rule(0.3, vote="anchored")


def test_a_higher_accepted_rate_never_needs_more_views():
    kinds = {(one.model, one.vote, one.keep) for one in shipped_calibrations()}
    for kind in kinds:
        rows = [one for one in shipped_calibrations() if (one.model, one.vote, one.keep) == kind and one.level is None]
        used = [one.fit["views_used"] for one in sorted(rows, key=lambda one: one.disagreement)]
        assert len(used) == 3
        assert used == sorted(used, reverse=True)


def test_the_largest_calibrated_rate_that_is_not_above_the_asked_one_is_taken(tmp_path):
    path = write(tmp_path / "stop.json", calibration(0.01, 0.75), calibration(0.05, 0.5))
    for asked, threshold in ((0.01, 0.75), (0.04, 0.75), (0.05, 0.5), (0.9, 0.5)):
        assert Adaptive(budget=16, disagreement=asked, calibration=path).rule(0.3).thresholds == (threshold,)
    with pytest.raises(UsageError, match=r"the least is 0\.01"):
        Adaptive(budget=16, disagreement=0.005, calibration=path).rule(0.3)
    with pytest.raises(
        UsageError, match=r"method zero with 16 views, keep 0\.25; known are those for zero with 16 views, keep 0\.3\."
    ):
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
    with pytest.raises(UsageError, match=r"other\.json(: | is not valid JSON| must hold a JSON object).*"):
        read_calibrations(path)
    with pytest.raises(UsageError, match="cannot read the calibration"):
        read_calibrations(tmp_path / "missing.json")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("rounds", [-4, 16]),
        ("rounds", [0, 16]),
        ("rounds", ["8", 16]),
        ("rounds", [8.0, 16]),
        ("rounds", [8, 32]),
        ("rounds", [16, 16]),
        ("rounds", []),
        ("thresholds", ["0.5"]),
        ("thresholds", [0.5, 0.5]),
        ("thresholds", [float("nan")]),
        ("budget", 10**30),
        ("budget", True),
        ("keep", 0),
        ("disagreement", 10**400),
        ("vote", "none"),
        ("level", 3),
        ("model", []),
        ("fit", 1),
        ("colour", "red"),
    ],
)
def test_a_file_that_would_never_end_or_mean_nothing_is_refused_with_its_key(tmp_path, key, value):
    row = calibration().to_dict() | {key: value}
    (tmp_path / "stop.json").write_text(json.dumps({"calibrations": [calibration().to_dict(), row]}))
    with pytest.raises(UsageError, match=rf"stop\.json: calibrations\[1\]: '{key}' is "):
        read_calibrations(tmp_path / "stop.json")


@pytest.mark.parametrize("wrong", [{"disagreement": 0}, {"disagreement": 1}, {"budget": 0}, {"budget": 2.5}])
def test_wrong_arguments_are_errors(wrong):
    with pytest.raises(UsageError):
        Adaptive(**wrong)
