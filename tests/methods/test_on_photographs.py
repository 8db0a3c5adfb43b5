"""Every method runs end to end on a real photograph with the embedded model."""

import numpy as np
import pytest

from viewvote import Classifier, load_encoder
from viewvote.errors import UnsupportedEncoderError
from viewvote.files import example_photos
from viewvote.methods import METHODS, TuningMethod

LABELS = ["cat", "dog", "rocket", "coffee cup"]
PHOTOS = {path.stem: path for path in example_photos()}
FREE = [name for name in METHODS if METHODS.entry(name).extra is None]


@pytest.fixture(scope="module")
def pocket():
    return load_encoder("pocket")


@pytest.mark.parametrize("name", FREE)
def test_training_free_and_streaming_methods_see_the_cat(pocket, name):
    prediction = Classifier(pocket, labels=LABELS, method=name, n_views=8)(PHOTOS["cat"])
    assert prediction.label == "cat"
    assert prediction.method == name


@pytest.mark.torch
@pytest.mark.parametrize(("name", "teacher"), [("tpt", None), ("rlcf", "pocket")])
def test_tuning_methods_see_the_cat_and_leave_no_trace(name, teacher):
    pytest.importorskip("torch")
    student = load_encoder("pocket-torch")
    before = student.encode_texts(["a photo of a cat."])
    clf = Classifier(student, labels=LABELS, method=name, teacher=teacher, n_views=8)
    assert isinstance(clf.method, TuningMethod)
    first, second = clf(PHOTOS["cat"]), clf(PHOTOS["cat"])
    assert first.label == "cat"
    assert first.notes == ()
    np.testing.assert_array_equal(first.scores, second.scores)
    np.testing.assert_array_equal(before, student.encode_texts(["a photo of a cat."]))


@pytest.mark.torch
def test_what_the_model_does_not_allow_is_said_before_any_image(pocket):
    pytest.importorskip("torch")
    with pytest.raises(UnsupportedEncoderError, match="'pocket' does not allow"):
        Classifier(pocket, labels=LABELS, method="tpt")
