"""Whether a photo shows any label, and which ones each alone: margins by hand, and answers from photos."""

import json
from math import exp, log

import numpy as np
import pytest
from PIL import Image

from viewvote import Classifier, ToyEncoder, UsageError
from viewvote.classify.background import MarginFit, build_background, margins
from viewvote.classify.each_label import checked_thresholds, each_probability
from viewvote.classify.none_of_these import none_probability, with_none
from viewvote.encoders.text_head import TextHead
from viewvote.prediction import NONE_OF_THESE

LABELS = ["red", "green", "blue"]
RED = Image.new("RGB", (40, 30), (250, 0, 0))


def test_a_margin_is_over_the_whole_background():
    logits = np.array([[2.0, 0.5]], dtype=np.float32)
    background = np.log(np.array([[1.0, 2.0, 4.0]], dtype=np.float32))
    assert margins(logits, background) == pytest.approx(np.array([[2 - log(7), 0.5 - log(7)]]), abs=1e-6)


def test_large_logits_do_not_overflow():
    assert margins(np.array([[900.0]], np.float32), np.array([[900.0, 900.0]], np.float32)) == pytest.approx(-log(2))


def test_none_is_likelier_the_smaller_the_best_margin_and_the_more_labels():
    fit = MarginFit(slope=-2.0, offset=0.5, per_doubling=0.25)
    source, background = np.array([1.0, 3.0], np.float32), np.array([2.0], np.float32)
    expected = 1 / (1 + exp(-(0.5 - 2.0 * (3 - 2) + 0.25)))
    assert none_probability(source, background, fit) == pytest.approx(expected)


def test_a_model_that_scores_each_label_alone_needs_no_background():
    source = np.array([-2.0, 1.0], np.float32)
    assert none_probability(source, None, MarginFit(1, 0)) == pytest.approx(1 - 1 / (1 + exp(-1)))
    views = np.array([[-2.0, 1.0], [5.0, 5.0]], np.float32)
    assert each_probability(views, None, MarginFit(1, 0)) == pytest.approx([1 / (1 + exp(2)), 1 / (1 + exp(-1))])


def test_each_label_counts_the_mean_of_its_odds_over_the_views():
    logits = np.array([[0.0, 1.0], [2.0, 1.0]], np.float32)
    background = np.array([[1.0], [1.0]], np.float32)
    fit = MarginFit(slope=2.0, offset=0.5)
    margin = log((exp(-1) + exp(1)) / 2)
    expected = [1 / (1 + exp(-(0.5 + 2 * margin))), 1 / (1 + exp(-0.5))]
    assert each_probability(logits, background, fit) == pytest.approx(expected, abs=1e-6)


def test_names_that_are_nearly_a_label_are_no_background():
    toy = ToyEncoder()

    def build(encoder, names, *, templates, cache_dir=None):
        rows = np.eye(3, dtype=np.float32)[[1] * len(names)]
        rows[: len(names) // 2] = [0, 0, 1]
        return TextHead(rows, cached=False)

    # The first half of the names lie along the third axis, the rest along the second; the label is the third.
    head = TextHead(np.array([[0, 0, 1]], np.float32), cached=False)
    found = build_background(toy, head, templates=["{}"], build_head=build)
    assert (found.features == [0, 1, 0]).all()
    assert len(found.features)
    nothing = TextHead(np.array([[0, 0, 1], [0, 1, 0]], np.float32), cached=False)
    with pytest.raises(UsageError, match="cannot tell whether a photo shows one"):
        build_background(toy, nothing, templates=["{}"], build_head=build)


def test_none_becomes_the_answer_from_its_least_probability_on():
    prediction = Classifier("toy", labels=LABELS, method="zero", n_views=8)(RED)
    below = with_none(prediction, 0.3, least=0.5, abstain_below=0.0)
    assert (below.label, below.labels) == ("red", (*LABELS, NONE_OF_THESE))
    assert below.probability == pytest.approx(prediction.probability * 0.7, abs=1e-6)
    assert below.probabilities.tolist() == pytest.approx([*(prediction.probabilities * 0.7), 0.3], abs=1e-6)
    above = with_none(prediction, 0.6, least=0.5, abstain_below=0.7)
    assert (above.index, above.label, above.abstained) == (3, None, True)
    assert above.probability == pytest.approx(0.6)
    assert above.votes.tolist() == [*prediction.votes, 0]
    assert with_none(prediction, 0.6, least=0.5, abstain_below=0.0).shown == ()


def test_a_label_that_wins_against_a_likelier_none_is_in_front_of_it():
    prediction = Classifier("toy", labels=LABELS, method="zero", n_views=8)(RED)
    found = with_none(prediction, 0.7, least=0.9, abstain_below=0.0)
    assert found.label == "red"
    assert found.probabilities.argmax() == 0
    assert found.probabilities.sum() == pytest.approx(1, abs=1e-5)


@pytest.fixture
def clf():
    return Classifier("pocket", labels=["cat", "rocket"], none_of_these=True, multi_label=True)


def test_photos_of_other_things_are_refused(clf, shipped_photos):
    found = {path.stem: one.label for path, one in zip(shipped_photos, clf.predict_many(shipped_photos), strict=True)}
    assert (found["cat"], found["rocket"], found["coffee"]) == ("cat", "rocket", NONE_OF_THESE)
    assert clf.classes_.tolist() == ["cat", "rocket", NONE_OF_THESE]
    rows = clf.predict_proba(shipped_photos)
    assert rows.shape == (len(shipped_photos), 3)
    assert rows.sum(axis=1) == pytest.approx(np.ones(len(rows)), abs=1e-4)


def test_each_label_is_there_by_its_own_threshold(clf, shipped_photos):
    (cat,) = (path for path in shipped_photos if path.stem == "cat")
    found = clf(cat)
    assert found.shown == ("cat",)
    values = found.to_dict()
    assert values["shown"] == ["cat"]
    assert set(values["each"]) == {"cat", "rocket"}
    assert json.dumps(values)
    sure = found.each.probabilities[0]
    strict = Classifier("pocket", labels=["cat", "rocket"], multi_label=True, thresholds={"cat": float(sure) + 1e-4})
    assert strict(cat).shown == ()
    assert strict(cat).label == "cat"


def test_other_labels_keep_the_questions(clf, shipped_photos):
    other = clf.with_labels(["coffee cup", "dog"])
    assert other.none_of_these
    assert other.multi_label
    assert [one.label for one in other.predict_many(shipped_photos)].count(NONE_OF_THESE) >= 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"thresholds": 0.5}, "ask for that too: multi_label=True"),
        ({"multi_label": True, "thresholds": {"rad": 0.5}}, "Did you mean 'red'"),
        ({"multi_label": True, "thresholds": 2}, "between 0 and 1; got 2"),
        ({"multi_label": True, "thresholds": {"red": "much"}}, "the threshold of 'red' must be between 0 and 1"),
    ],
)
def test_wrong_questions_are_errors(options, message):
    with pytest.raises(UsageError, match=message):
        Classifier("toy", labels=LABELS, **options)


def test_the_added_label_is_nobodys_own():
    with pytest.raises(UsageError, match="cannot be one of yours"):
        Classifier("toy", labels=["red", NONE_OF_THESE], none_of_these=True)


def test_a_threshold_of_an_ambiguous_label_is_refused():
    with pytest.raises(UsageError, match="twice"):
        checked_thresholds({"a": 0.5}, ("a", "a"), default=0.5)


@pytest.mark.parametrize("wrong", ["steep", None, float("inf"), True])
def test_a_fit_that_means_nothing_is_refused(wrong):
    with pytest.raises(UsageError, match="slope of a margin's fit is a number"):
        MarginFit(slope=wrong, offset=0.0)
