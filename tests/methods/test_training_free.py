"""Every registered method keeps the same promises; the simple ones are checked by hand."""

import dataclasses

import numpy as np
import pytest

from viewvote.classify.classifier import Classifier
from viewvote.errors import NonFiniteError, UsageError
from viewvote.methods import METHODS, Decision, TrainingFreeMethod, ViewLogits, probability_decision
from viewvote.methods.baselines import Ensemble, Marginal, MeanLogits, ZeroShot
from viewvote.methods.zero import Zero
from viewvote.vote import vote

LOGITS = np.log(
    np.array(
        [
            [[0.6, 0.3, 0.1], [0.05, 0.9, 0.05], [0.2, 0.8, 0.0001], [0.34, 0.33, 0.33]],
            [[0.1, 0.1, 0.8], [0.9, 0.05, 0.05], [0.1, 0.1, 0.8], [0.3, 0.3, 0.4]],
        ],
        dtype=np.float32,
    )
)


def unit(shape, seed):
    rows = np.random.default_rng(seed).normal(size=shape).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


WITHOUT_EXTRA = [name for name in METHODS if METHODS.entry(name).extra is None]
TRAINING_FREE = [name for name in WITHOUT_EXTRA if hasattr(METHODS.get(name), "decide")]
FEATURES, TEXT = unit((4, 5), 0), unit((3, 5), 1)


def on(logits):
    return ViewLogits(logits, features=FEATURES[: len(logits)], text=TEXT)


@pytest.mark.parametrize("logits", LOGITS)
@pytest.mark.parametrize("name", TRAINING_FREE)
def test_every_method_keeps_the_common_promises(name, logits):
    cls = METHODS.get(name)
    assert dataclasses.is_dataclass(cls)
    method = cls()
    assert method.name == name
    with pytest.raises(dataclasses.FrozenInstanceError):
        method.keep = 0.5
    n = method.views_used(4)
    assert 1 <= method.views_used(64) <= 64
    decision = method.decide(on(logits[:n]))
    assert decision.scores.shape == (3,)
    assert decision.scores.dtype == np.float32
    assert decision.scores.sum() == pytest.approx(1, abs=1e-5)
    assert decision.scores[decision.index] == decision.scores.max()
    assert decision.confidence == pytest.approx(float(decision.scores[decision.index]))
    table = decision.views
    for column in (table.labels, table.entropy, table.top_probability, table.kept):
        assert column.shape == (n,)
    assert table.kept.any()
    again = method.decide(on(logits[:n]))
    assert again.index == decision.index
    np.testing.assert_array_equal(again.scores, decision.scores)


@pytest.mark.parametrize("name", TRAINING_FREE)
def test_every_method_refuses_broken_features(name):
    broken = LOGITS[0].copy()
    broken[0, 0] = np.nan
    with pytest.raises(NonFiniteError, match="view 0 has a non-finite logit"):
        METHODS.get(name)().decide(on(broken))


def test_zero_shot_is_the_softmax_of_the_source_view():
    first, second = (ZeroShot().decide(ViewLogits(logits)) for logits in LOGITS)
    assert (first.index, second.index) == (0, 2)
    np.testing.assert_allclose(first.scores, [0.6, 0.3, 0.1], atol=1e-6)
    assert first.confidence == pytest.approx(0.6)


def test_a_model_that_scores_each_label_alone_gives_sigmoids():
    logits = np.array([[0, -100, 2]], dtype=np.float32)
    decision = ZeroShot().decide(ViewLogits(logits, scoring="sigmoid"))
    np.testing.assert_allclose(decision.scores, [0.5, 0, 1 / (1 + np.exp(-2))], atol=1e-6)
    assert decision.index == 2


def test_marginal_is_the_mean_probability_of_the_kept_views():
    first, second = (Marginal(keep=0.5).decide(ViewLogits(logits)) for logits in LOGITS)
    # image 0: entropies .898, .394, .501, 1.099: views 1 and 2 are kept
    assert first.views.kept.tolist() == [False, True, True, False]
    np.testing.assert_allclose(first.scores, [0.125, 0.85, 0.025], atol=1e-3)
    # image 1: view 1 (.394) and then view 0 (.639, before its twin view 2)
    assert second.views.kept.tolist() == [True, True, False, False]
    np.testing.assert_allclose(second.scores, [0.5, 0.075, 0.425], atol=1e-3)
    assert second.index == 0


def test_mean_logits_by_hand():
    logits = np.array([[4, 0, 0], [0, 9, 0], [1, 1, 1], [0, 3, 0]], dtype=np.float32)
    decision = MeanLogits(keep=0.5).decide(ViewLogits(logits))  # keeps views 1 and 0: means 2, 4.5, 0
    expected = np.exp([2, 4.5, 0]) / np.exp([2, 4.5, 0]).sum()
    np.testing.assert_allclose(decision.scores, expected, atol=1e-6)
    assert decision.views.kept.tolist() == [True, True, False, False]


def test_ensemble_brings_its_templates():
    assert Ensemble().templates == "ensemble"
    clf = Classifier("toy", labels=["red", "green"], method="ensemble")
    assert len(clf.templates) == 7
    assert len(Classifier("toy", labels=["red"], method="ensemble", templates="photo").templates) == 1
    assert len(Classifier("toy", labels=["red"], method="zero").templates) == 1


def test_zero_is_the_vote():
    for logits in LOGITS:
        decision = Zero(keep=0.75).decide(ViewLogits(logits))
        ballot = vote(logits, keep=0.75)
        assert decision.index == ballot.winner
        assert decision.votes.tolist() == ballot.votes.tolist()
        assert decision.confidence == pytest.approx(ballot.share)


def test_the_teacher_votes_on_the_views_that_the_student_kept():
    asked = []
    # the student keeps views 1 and 2 of image 0 (see above) and ranks 1 first
    teacher_rows = np.array([[0, 0, 9], [0, 0, 8]], dtype=np.float32)

    def teacher(kept):
        asked.append(kept.tolist())
        return teacher_rows

    decision = Zero(keep=0.5).decide(ViewLogits(LOGITS[0], teacher=teacher))
    assert asked == [[1, 2]]
    assert decision.index == 2
    assert decision.votes.tolist() == [0, 0, 2]
    assert decision.views.labels.tolist() == [0, 2, 2, 0]  # discarded views keep the student's labels


def test_a_tie_of_the_teacher_is_broken_by_the_students_discarded_views():
    def teacher(kept):
        return np.array([[5, 0, 0], [0, 0, 4]], dtype=np.float32)

    decision = Zero(keep=0.5).decide(ViewLogits(LOGITS[0], teacher=teacher))
    # 0 and 2 tie; the student's most confident discarded view is view 0 (0.6 for class 0)
    assert (decision.index, decision.tie_break) == (0, "greedy")


def test_teacher_logits_of_another_shape_are_an_error():
    with pytest.raises(UsageError, match=r"\(2, 3\)"):
        vote(LOGITS[0], keep=0.5, teacher_logits=np.zeros((3, 3)))


@dataclasses.dataclass(frozen=True)
class Median(TrainingFreeMethod):
    """A method of one's own: all that it must write."""

    keep: float = 0.5

    name = "median"

    def decide(self, views: ViewLogits) -> Decision:
        kept = views.kept(self.keep)
        median = np.median(np.exp(views.logp[kept]), axis=0)
        return probability_decision(views, median / median.sum(), kept=kept)


def test_a_method_of_ones_own_needs_a_name_and_decide():
    decision = Median(keep=1.0).decide(ViewLogits(LOGITS[1]))
    # medians of the columns .1 .9 .1 .3, .1 .05 .1 .3 and .8 .05 .8 .4
    np.testing.assert_allclose(decision.scores, np.array([0.2, 0.1, 0.6]) / 0.9, atol=1e-6)
    clf = Classifier("toy", labels=["red", "green"], method=Median(), n_views=4)
    prediction = clf(np.full((20, 20, 3), (250, 0, 0), dtype=np.uint8))
    assert (prediction.label, prediction.method, prediction.vote_share) == ("red", "median", None)
    assert len(prediction.kept) == 2


def test_what_a_method_does_not_declare_has_a_default():
    method = Median()
    assert (method.asks_teacher, method.templates, method.fingerprint) == (False, "photo", None)
    assert method.views_used(64) == 64
    assert method.reset() is None
    with pytest.raises(TypeError, match="decide"):
        type("Empty", (TrainingFreeMethod,), {"name": "empty"})()
