"""Classifiers and predictions as Python objects."""

import copy
import pickle
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from tests.conftest import draw_photo
from tests.images.pictures import BLUE, GREEN, RED, picture, same
from viewvote import Adaptive, Classifier, ModelError, Prediction, ToyEncoder, UsageError
from viewvote.files import example_photos
from viewvote.probability import ProbabilityFit
from viewvote.views.sample import Keyed


@pytest.fixture
def clf():
    return Classifier("toy", labels=["red", "green", "blue"], n_views=16)


def test_they_are_shown_in_a_line(clf, tmp_path):
    assert repr(clf) == "Classifier('toy', labels=['red', 'green', 'blue'], method='anchored', keep=0.3, n_views=16)"
    many = Classifier("toy", labels=[f"thing {i}" for i in range(1000)], method="zero-shot", n_views=16)
    assert repr(many) == (
        "Classifier('toy', labels=['thing 0', 'thing 1', 'thing 2', ... 997 more], method='zero-shot', n_views=16)"
    )
    taught = Classifier("toy", labels=["red"], teacher=ToyEncoder(size=8), n_views=Adaptive(disagreement="strict"))
    assert "n_views=Adaptive(budget=64, disagreement='strict', calibration=None), teacher='toy'" in repr(taught)
    picture().save(tmp_path / "red.png")
    prediction = replace(clf(tmp_path / "red.png"), probability=0.987)
    assert repr(prediction) == f"Prediction('red', 99% likely, 4 of 4 votes, anchored, toy, '{tmp_path}/red.png')"
    assert repr(prediction.trace) == "Trace(16 views, 4 kept)"
    assert repr(Classifier("toy", labels=["red"], n_views=1)(picture()).trace) == "Trace(1 view, 1 kept)"
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


@pytest.fixture
def clf_of_any_kind(request):
    return Classifier("toy", labels=["red", "green", "blue"], n_views=16, **request.param)


KINDS = [
    {},
    {"method": "anchored", "keep": 0.5, "templates": "ensemble", "seed": 3, "abstain_below": 0.4},
    {"teacher": "toy", "augment": "augmix", "evidence": True},
    {"none_of_these": True, "multi_label": True, "thresholds": 0.4},
    {"stop": "exact", "calibration": ProbabilityFit(0.4, 1.5, -0.1)},
]


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda clf: pickle.loads(pickle.dumps(clf))])
@pytest.mark.parametrize("clf_of_any_kind", KINDS, indirect=True)
def test_pickled_and_copied_it_answers_the_same(clf_of_any_kind, copied):
    clf, image = clf_of_any_kind, draw_photo(60, 50)
    other = copied(clf)
    assert other.encoder is not clf.encoder
    assert repr(other) == repr(clf)
    assert same(other(image), clf(image))
    assert same(other.with_labels(["magenta", "cyan"])(image), clf.with_labels(["magenta", "cyan"])(image))


def test_a_shallow_copy_has_the_same_model(clf):
    assert copy.copy(clf).encoder is clf.encoder
    assert same(copy.copy(clf)(draw_photo(60, 50)), clf(draw_photo(60, 50)))


def test_a_context_is_pickled_without_the_photos_it_came_from(clf):
    images = [draw_photo(60, 50, seed=seed) for seed in range(5)]
    inside = clf.with_context(images, mix="varied")
    other = pickle.loads(pickle.dumps(inside))
    assert all(same(one, two) for one, two in zip(other.predict_many(images), inside.predict_many(images), strict=True))
    assert not other._sources


def test_a_copy_of_a_stream_knows_what_was_seen_and_goes_its_own_way():
    clf = Classifier("toy", labels=["red", "green"], method="tda", n_views=8)
    images = [draw_photo(60, 50, seed=seed) for seed in range(6)]
    clf.predict(images[:3])
    other = copy.deepcopy(clf)
    of_copy = [other(image).scores.tolist() for image in images[3:]]
    assert [clf(image).scores.tolist() for image in images[3:]] == of_copy


def test_the_embedded_model_is_loaded_again_in_another_process(tmp_path):
    clf = Classifier("pocket", labels=["cat", "rocket"], n_views=4)
    path = str(example_photos()[0])
    (tmp_path / "clf.pickle").write_bytes(pickle.dumps(clf.with_labels(["astronaut", "cat"])))
    assert (tmp_path / "clf.pickle").stat().st_size < 50_000
    code = "import pickle, sys; print(pickle.load(open(sys.argv[1], 'rb'))(sys.argv[2]).scores.tolist())"
    command = [sys.executable, "-c", code, str(tmp_path / "clf.pickle"), path]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.strip() == str(clf.with_labels(["astronaut", "cat"])(path).scores.tolist())


class Bright(ToyEncoder):
    """A model of one's own, which pickles."""

    model_id = "bright"


class Deaf(ToyEncoder):
    """A model that cannot be pickled."""

    model_id = "deaf"

    def __init__(self):
        super().__init__()
        self.lock = threading.Lock()


def test_a_model_given_as_an_object_is_pickled_itself_or_named():
    clf = Classifier(Bright(size=16), labels=["red", "green"], n_views=4)
    assert pickle.loads(pickle.dumps(clf)).encoder.image_spec.size == 16
    with pytest.raises(UsageError, match=r"'deaf' was given as an object of type Deaf, which does not pickle"):
        pickle.dumps(Classifier(Deaf(), labels=["red"], n_views=4))


def test_a_model_that_is_another_by_now_is_an_error(clf, monkeypatch):
    data = pickle.dumps(clf)
    monkeypatch.setattr(ToyEncoder, "fingerprint", "toy-2")
    with pytest.raises(ModelError, match="'toy' is another model here"):
        pickle.loads(data)


@pytest.mark.parametrize("model", ["toy", "pocket"])
def test_eight_threads_get_the_same_answers(model):
    clf = Classifier(model, labels=["red", "green", "blue"], n_views=4)
    images = [draw_photo(60, 50, seed=seed) for seed in range(6)]
    expected = [clf(image) for image in images]
    start = threading.Barrier(8)

    def ask(shift):
        start.wait(30)
        order = images[shift % 6 :] + images[: shift % 6]
        found = [clf(image) for image in order] + list(clf.predict_many(order))
        return [(image, answer) for image, answer in zip(order * 2, found, strict=True)]

    with ThreadPoolExecutor(8) as pool:
        for answers in pool.map(ask, range(8)):
            for image, answer in answers:
                assert same(answer, expected[next(i for i, one in enumerate(images) if one is image)])


def test_progress_counts_images_and_errors_as_they_come(clf, tmp_path):
    seen = []

    def note(*state):
        seen.append(state)

    images = [picture(), tmp_path / "missing.png", picture()]
    for answer in clf.predict_many(images, on_error="return", progress=note):
        seen += ["answer" if isinstance(answer, Prediction) else "error"]
    assert seen == [(1, 3), "answer", (2, 3), "error", (3, 3), "answer"]
    seen.clear()
    list(clf.predict_many((one for one in images[:1]), progress=note))
    assert seen == [(1, None)]
    seen.clear()
    list(clf.predict_features(clf.encode([picture()]), progress=note))
    assert seen == [(1, 1)]


def test_score_is_the_share_of_right_labels(clf):
    images = [picture(RED), picture(GREEN), picture(BLUE)]
    assert clf.score(images, ["red", "green", "red"]) == 2 / 3
    assert clf.score(iter(images), np.array(["red", "green", "blue"])) == 1.0
    with pytest.raises(UsageError, match="expected label 1 is 'pink'"):
        clf.score(images, ["red", "pink", "red"])
    with pytest.raises(UsageError, match="got 3 images, 2 labels"):
        clf.score(images, ["red", "green"])
    unsure = Classifier("toy", labels=["red", "green"], n_views=8, abstain_below=1.0)
    grey = Image.new("RGB", (30, 30), (120, 120, 0))
    assert unsure.score([grey], ["red"]) == unsure.score([grey], ["green"]) == 0.0
