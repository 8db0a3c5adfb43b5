"""`viewvote serve --calibration`: the probability of a file of `viewvote calibrate`, where it belongs."""

import pytest

from tests.conftest import draw_photo
from tests.images.pictures import encoded
from tests.server.living import running, without_timings
from viewvote import Classifier
from viewvote.classify.calibration import Calibration, read_calibration
from viewvote.errors import UsageError
from viewvote.probability import ProbabilityFit

PHOTO = encoded(draw_photo(90, 60))


def calibrated(folder, *, method="zero", model="toy"):
    """A file of a fit that nobody would ship."""
    path = folder / "calibration.json"
    path.write_text(Calibration(method, model, ProbabilityFit(slope=0.25)).to_text())
    return str(path)


def test_requests_of_its_method_get_its_probability_and_others_what_the_model_ships_with(tmp_path):
    path = calibrated(tmp_path)
    with running(calibration=path) as client:
        for method, calibration in (("zero", path), ("zero-shot", None)):
            expected = Classifier(
                "toy", labels=["red", "green", "blue"], method=method, n_views=8, calibration=calibration
            )(PHOTO)
            (found,) = client.classify(PHOTO, method=method).json["predictions"]
            plain = without_timings(expected.to_dict())
            assert (found["probability"], found["label"]) == (plain["probability"], plain["label"])
    shipped = Classifier("toy", labels=["red", "green", "blue"], method="zero", n_views=8)(PHOTO)
    given = Classifier("toy", labels=["red", "green", "blue"], method="zero", n_views=8, calibration=path)(PHOTO)
    assert shipped.probability != given.probability  # or the first assertion could not fail
    assert read_calibration(tmp_path / "calibration.json").fit.slope == 0.25


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"model": "pocket"}, "was fitted for the model 'pocket', and this service has 'toy'"),
        ({"method": "tpt"}, "a service answers each image alone"),
    ],
)
def test_a_file_of_another_model_or_method_is_refused_at_the_start(tmp_path, facts, words):
    with pytest.raises(UsageError, match=words), running(calibration=calibrated(tmp_path, **facts)):
        pass
