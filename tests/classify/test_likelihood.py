"""The probability of an answer, from logits to the Prediction, worked out by hand."""

import json

import numpy as np
import pytest

from viewvote import Classifier, UsageError
from viewvote.classify.calibration import Calibration, probability_fit, read_calibration
from viewvote.classify.likelihood import likelihood_of
from viewvote.encoders import load_encoder
from viewvote.methods import ViewLogits
from viewvote.methods.anchored import Anchored
from viewvote.methods.baselines import Marginal, ZeroShot
from viewvote.methods.zero import Zero
from viewvote.probability import ProbabilityFit


def logs(*rows):
    return np.log(np.array(rows, dtype=np.float32))


VIEWS = ViewLogits(logs([0.6, 0.3, 0.1], [0.05, 0.9, 0.05], [0.02, 0.96, 0.02], [0.4, 0.3, 0.3]))


def test_a_votes_probability_is_of_the_source_view_and_the_kept_ones():
    decision = Zero(keep=0.5).decide(VIEWS)  # views 2 and 1 are the surest; both vote for class 1
    assert decision.index == 1
    probability, blend = likelihood_of(decision, VIEWS, fit=ProbabilityFit())
    # Two kept views have two thirds of the half that very many have.
    by_hand = [(2 * 0.6 + 0.035) / 3, (2 * 0.3 + 0.93) / 3, (2 * 0.1 + 0.035) / 3]
    assert blend == pytest.approx(by_hand, abs=1e-6)
    assert probability == pytest.approx(0.51, abs=1e-6)


def test_the_more_views_are_kept_the_more_they_count():
    few, many = (Zero(keep=keep).decide(VIEWS) for keep in (0.25, 0.75))  # views 2; 2, 1 and 0
    _, blend = likelihood_of(few, VIEWS, fit=ProbabilityFit())
    assert blend == pytest.approx(
        [0.75 * 0.6 + 0.25 * 0.02, 0.75 * 0.3 + 0.25 * 0.96, 0.75 * 0.1 + 0.25 * 0.02], abs=1e-6
    )
    _, blend = likelihood_of(many, VIEWS, fit=ProbabilityFit())
    first, second = 0.625 * 0.6 + 0.375 * 0.67 / 3, 0.625 * 0.3 + 0.375 * 2.16 / 3
    assert second < first  # so the answer, the second, shares with it
    assert blend[:2] == pytest.approx((first + second) / 2, abs=1e-6)


def test_a_source_view_that_is_alone_keeps_its_own():
    alone = ViewLogits(VIEWS.logits[:1])
    decision = Zero(keep=0.3).decide(alone)
    assert likelihood_of(decision, alone, fit=ProbabilityFit())[0] == pytest.approx(0.6, abs=1e-6)


def test_the_source_views_part_is_the_fits():
    decision = Zero(keep=0.5).decide(VIEWS)
    expected = (0.3 + 2 * 0.93) / 3  # the source view counts as one more kept view
    assert likelihood_of(decision, VIEWS, fit=ProbabilityFit(source=0.0))[0] == pytest.approx(expected, abs=1e-6)
    # The source view alone prefers class 0 (0.6 to 0.3), so the answer shares with it.
    probability, blend = likelihood_of(decision, VIEWS, fit=ProbabilityFit(source=1.0))
    assert blend == pytest.approx([0.45, 0.45, 0.1], abs=1e-6)
    assert probability == pytest.approx(0.45, abs=1e-6)


def test_slope_and_offset_move_the_answers_log_odds():
    decision = Zero(keep=0.5).decide(VIEWS)
    fit = ProbabilityFit(slope=0.5, offset=-0.25)
    expected = 1 / (1 + np.exp(-(0.5 * np.log(0.51 / 0.49) - 0.25)))
    assert likelihood_of(decision, VIEWS, fit=fit)[0] == pytest.approx(expected, abs=1e-6)


def test_methods_that_do_not_vote_keep_their_own():
    for method, expected in ((Marginal(keep=0.5), 0.93), (ZeroShot(), 0.6)):
        decision = method.decide(VIEWS)
        assert likelihood_of(decision, VIEWS, fit=ProbabilityFit())[0] == pytest.approx(expected, abs=1e-6)


def test_in_a_cascade_the_teachers_probabilities_count():
    teacher = logs([0.2, 0.5, 0.3], [0.1, 0.7, 0.2], [0.3, 0.6, 0.1], [0.3, 0.3, 0.4])
    asked = ViewLogits(VIEWS.logits, teacher=lambda views: teacher[views])
    decision = Anchored(keep=0.5, weight=1).decide(asked)
    rows = {0: teacher[0], 1: teacher[1], 2: teacher[2]}
    probability, _ = likelihood_of(decision, asked, fit=ProbabilityFit(), teacher=rows)
    assert probability == pytest.approx((2 * 0.5 + 0.65) / 3, abs=1e-6)


def picture(colour=(250, 0, 0), side=60):
    return np.full((side, side, 3), colour, dtype=np.uint8)


def test_probabilities_are_what_everything_reports():
    clf = Classifier("toy", labels=["red", "green", "blue"], n_views=8)
    pixels = picture((160, 120, 60))
    prediction = clf(pixels)
    assert prediction.probabilities.sum() == pytest.approx(1, abs=1e-5)
    assert prediction.probabilities.argmax() == prediction.index
    assert prediction.probabilities[prediction.index] == np.float32(prediction.probability)
    assert clf.predict_proba([pixels])[0].tolist() == prediction.probabilities.tolist()
    assert prediction.to_dict()["probability"] == prediction.probability == prediction.confidence


def test_abstaining_goes_by_the_probability():
    pixels = picture((160, 120, 60))
    sure = Classifier("toy", labels=["red", "green", "blue"], n_views=8)(pixels)
    assert 0 < sure.probability < 1
    for limit, label in ((sure.probability - 1e-6, sure.label), (sure.probability + 1e-6, None)):
        clf = Classifier("toy", labels=["red", "green", "blue"], n_views=8, abstain_below=limit)
        assert clf(pixels).label == label


def test_exact_stopping_abstains_where_all_views_do():
    rng = np.random.default_rng(0)
    for _ in range(6):
        pixels = rng.integers(0, 256, (50, 50, 3)).astype(np.uint8)
        full = Classifier("toy", labels=["red", "green", "blue"], method="zero", n_views=64)(pixels)
        for shift in (-1e-3, 1e-3):
            limit = min(1.0, max(0.0, full.probability + shift))
            asked = {"labels": ["red", "green", "blue"], "method": "zero", "n_views": 64, "abstain_below": limit}
            all_views, exact = Classifier("toy", **asked)(pixels), Classifier("toy", **asked, stop="exact")(pixels)
            assert (exact.label, exact.index) == (all_views.label, all_views.index)


def test_a_file_of_numbers_is_used_and_kept_with_other_labels(tmp_path):
    path = tmp_path / "cal.json"
    fit = ProbabilityFit(source=0.3, slope=0.8, offset=-0.5)
    path.write_text(Calibration("zero", "toy", fit, {"n": 100}).to_text())
    assert read_calibration(path).fit == fit
    clf = Classifier("toy", labels=["red", "green"], method="zero", n_views=8, calibration=path)
    assert clf.likely == fit == clf.with_labels(["blue", "red"]).likely
    plain = Classifier("toy", labels=["red", "green"], method="zero", n_views=8)
    pixels = picture((160, 120, 60))
    assert clf(pixels).index == plain(pixels).index
    assert clf(pixels).probability < plain(pixels).probability


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "something"}, "no file of `viewvote calibrate`"),
        ({"slope": "steep"}, "'slope' is 'steep', expected a number"),
        ({"slope": None}, "'slope' is None, expected a number"),
        ({"method": "anchored"}, "fitted for the method 'anchored', not for 'zero'"),
        ({"model": "pocket"}, "fitted for the model 'pocket', not for 'toy'"),
        ({"model": 3}, "'model' is 3, expected a text"),
    ],
)
def test_a_calibration_that_does_not_fit_is_refused(tmp_path, change, message):
    path = tmp_path / "cal.json"
    good = json.loads(Calibration("zero", "toy", ProbabilityFit()).to_text())
    path.write_text(json.dumps(good | change))
    with pytest.raises(UsageError, match=message):
        Classifier("toy", labels=["red", "green"], method="zero", n_views=8, calibration=path)


def test_a_calibration_without_a_number_is_refused(tmp_path):
    path = tmp_path / "cal.json"
    good = json.loads(Calibration("zero", "toy", ProbabilityFit()).to_text())
    del good["offset"]
    path.write_text(json.dumps(good))
    with pytest.raises(UsageError, match="'offset' is missing, expected a number"):
        read_calibration(path)


def test_a_model_ships_its_numbers_for_votes():
    class Fitted(type(load_encoder("toy"))):
        calibration = {"vote": {"source": 0.4, "slope": 0.9, "offset": -0.1, "most": 0.98}}  # noqa: RUF012

    encoder = Fitted()
    assert probability_fit(encoder, Zero(), None) == ProbabilityFit(0.4, 0.9, -0.1, 0.98)
    assert probability_fit(encoder, Marginal(), None) == ProbabilityFit()
    assert probability_fit(load_encoder("toy"), Zero(), None) == ProbabilityFit(most=0.99)
    assert probability_fit(load_encoder("toy"), ZeroShot(), None) == ProbabilityFit()
