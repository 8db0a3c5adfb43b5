"""Classifiers and predictions as Python objects."""

import pytest

from tests.images.pictures import picture
from viewvote import Adaptive, Classifier, ToyEncoder, UsageError
from viewvote.views.sample import Keyed


@pytest.fixture
def clf():
    return Classifier("toy", labels=["red", "green", "blue"], n_views=16)


def test_they_are_shown_in_a_line(clf, tmp_path):
    assert repr(clf) == "Classifier('toy', labels=['red', 'green', 'blue'], method='zero', keep=0.3, n_views=16)"
    many = Classifier("toy", labels=[f"thing {i}" for i in range(1000)], method="zero-shot", n_views=16)
    assert repr(many) == (
        "Classifier('toy', labels=['thing 0', 'thing 1', 'thing 2', ... 997 more], method='zero-shot', n_views=16)"
    )
    taught = Classifier("toy", labels=["red"], teacher=ToyEncoder(size=8), n_views=Adaptive(disagreement="strict"))
    assert "n_views=Adaptive(budget=64, disagreement='strict', calibration=None), teacher='toy'" in repr(taught)
    picture().save(tmp_path / "red.png")
    prediction = clf(tmp_path / "red.png")
    assert repr(prediction) == f"Prediction('red', 100% likely, 4 of 4 votes, zero, toy, '{tmp_path}/red.png')"
    assert repr(prediction.trace) == "Trace(16 views, 4 kept)"
    assert repr(prediction.trace.views) == "ViewTable(16 views, 4 kept)"
    assert len(repr(many(picture()))) < 100


@pytest.mark.parametrize(
    "several",
    [
        [picture(), picture()],
        (picture(),),
        {"a.jpg"},
        (image for image in [picture()]),
        Classifier("toy", labels=["red"], n_views=2).encode([picture()]),
    ],
)
def test_several_images_where_one_belongs_name_what_takes_several(clf, several):
    with pytest.raises(UsageError, match=r"takes one image and got a \w+; for several, use clf\.predict_many"):
        clf(several)


def test_a_keyed_image_and_an_open_file_are_one(clf, tmp_path):
    picture().save(tmp_path / "red.png")
    with (tmp_path / "red.png").open("rb") as file:
        assert clf(Keyed(file, key="a")).label == "red"
    with (tmp_path / "red.png").open("rb") as file:
        assert clf(file).label == "red"
