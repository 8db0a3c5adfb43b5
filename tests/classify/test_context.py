"""A classifier with other photos as context: offsets in every view's logits, in any order, under every method."""

import pickle

import numpy as np
import pytest

from tests.conftest import Contrary
from viewvote import Adaptive, Classifier, ToyEncoder, UsageError
from viewvote.classify.gather import SourceLogits, source_logits
from viewvote.context.file import write_context
from viewvote.context.rule import estimate
from viewvote.methods import METHODS, TrainingFreeMethod, ViewLogits

LABELS = ["red", "green", "blue"]
TRAINING_FREE = [
    name for name in METHODS if METHODS.entry(name).extra is None and issubclass(METHODS.get(name), TrainingFreeMethod)
]


def tinted(n, *, seed=0, colour=110):
    """Pictures of the three colours in turn, all with the same red light on them."""
    rng = np.random.default_rng(seed)
    pictures = []
    for i in range(n):
        base = rng.uniform(0, 90, 3)
        base[i % 3] += colour
        base[0] += 60
        noise = rng.normal(0, 25, (30, 30, 3))
        pictures.append(np.clip(base + noise, 0, 255).astype(np.uint8))
    return pictures


@pytest.fixture(scope="module")
def photos():
    return tinted(45)


def classifier(**settings):
    return Classifier(ToyEncoder(logit_scale=8.0), labels=LABELS, **({"n_views": 8} | settings))


def test_the_offsets_follow_from_the_logits_of_source_views(photos):
    plain = classifier(method="zero-shot")
    found = plain.with_context(photos).context
    features = np.array([ToyEncoder().encode_images(plain.prepare(one).pixels)[0] for one in photos])
    logits = 8.0 * features  # the texts of red, green and blue are the axes
    assert (found.n, found.model, found.estimator) == (45, "toy", "levels")
    assert found.offsets == pytest.approx(estimate(logits).offsets, abs=1e-5)
    assert found.share > 0
    assert found.offsets.argmax() == 0  # red light on all of them


def test_the_same_bits_in_any_order_and_whatever_cannot_be_read_is_left_out(photos, tmp_path):
    (tmp_path / "broken.png").write_bytes(b"no picture")
    shuffled = [photos[i] for i in np.random.default_rng(3).permutation(len(photos))]
    one = classifier().with_context(photos).context
    other = classifier().with_context([tmp_path / "broken.png", *shuffled]).context
    assert one.offsets.tobytes() == other.offsets.tobytes()
    assert one.digest == other.digest


def test_a_context_of_a_context_starts_from_the_plain_logits(photos):
    once = classifier().with_context(photos)
    assert once.with_context(photos).context.digest == once.context.digest


def test_without_being_asked_no_photo_depends_on_another(photos):
    plain = classifier()
    before = plain(photos[0])
    assert plain.with_context(photos) is not plain
    assert plain.context is None
    after = plain(photos[0])
    assert after.context is None
    assert after.scores.tobytes() == before.scores.tobytes()
    assert "context" not in after.to_dict(trace=True)


@pytest.mark.parametrize("name", TRAINING_FREE)
def test_every_training_free_method_decides_on_logits_less_the_offsets(photos, name):
    found = classifier(method=name).with_context(photos)
    for one in photos[:6]:
        sample = found.prepare(one, first=found.method.views_used(8))
        features = ToyEncoder().encode_images(sample.pixels)
        views = ViewLogits(
            8.0 * features - found.context.offsets,  # the texts of red, green and blue are the axes
            logit_scale=8.0,
            tie_draw=sample.tie_draw,
            features=features,
            text=np.eye(3, dtype=np.float32),
            offsets=found.context.offsets,
            likeness=found.likeness or 0.0,
        )
        prediction, expected = found(one), found.method.decide(views)
        assert prediction.scores == pytest.approx(expected.scores, abs=1e-5)
        assert prediction.trace.views.labels.tolist() == expected.views.labels.tolist()


def test_mta_takes_the_offsets_off_its_mode(photos):
    with_context = classifier(method="mta").with_context(photos)
    flat = np.full((30, 30, 3), 120, dtype=np.uint8)  # all views are the same, and the mode is their feature
    offsets = with_context.context.offsets
    odds = np.exp(8.0 * np.full(3, 3**-0.5) - offsets)
    assert with_context(flat).scores == pytest.approx(odds / odds.sum(), abs=1e-5)


def test_the_answer_carries_its_context(photos):
    found = classifier().with_context(photos)
    prediction = found(photos[0])
    assert prediction.context is found.context
    facts = prediction.to_dict()["context"]
    assert facts == {
        "digest": found.context.digest,
        "n": 45,
        "effective_labels": round(found.context.effective, 2),
        "estimator": "levels",
        "share": round(found.context.share, 3),
    } | ({} if found.context.note is None else {"note": found.context.note})
    taken = prediction.to_dict(trace=True)["context"]["taken_off"]
    assert list(taken) == LABELS
    assert list(taken.values()) == found.context.offsets.tolist()


def test_many_answers_are_those_of_single_photos(photos):
    for settings in ({"n_views": "adaptive"}, {"n_views": Adaptive(disagreement="strict")}, {"stop": "exact"}):
        found = classifier(**({"n_views": 64} | settings)).with_context(photos)
        many = list(found.predict_many(photos[:6], batch_views=5))
        alone = [found(one) for one in photos[:6]]
        assert [one.scores.tobytes() for one in many] == [one.scores.tobytes() for one in alone]
        assert [one.views_used for one in many] == [one.views_used for one in alone]


def test_a_cascade_has_offsets_of_both_models(photos):
    found = classifier(teacher=Contrary()).with_context(photos)
    assert found.context.teacher.model == "contrary"
    assert found.context.offsets.tobytes() != found.context.teacher.offsets.tobytes()
    setup = found.setup()
    assert setup.model.offsets is found.context.offsets
    assert setup.teacher.offsets is found.context.teacher.offsets
    with pytest.raises(UsageError, match="both its models"):
        classifier(teacher=Contrary(), context=classifier().with_context(photos).context)
    with pytest.raises(UsageError, match="both its models"):
        classifier(context=found.context)


def test_fit_is_what_scikit_learn_expects(photos):
    plain = classifier(method="zero-shot")
    expected = plain.with_context(photos)
    assert plain.fit(photos, [0] * len(photos)) is plain
    assert plain.context.digest == expected.context.digest
    assert plain.predict(photos).tolist() == expected.predict(photos).tolist()


def test_a_file_does_the_same_and_a_pickle_too(photos, tmp_path):
    found = classifier().with_context(photos)
    write_context(found.context, tmp_path / "my.context.json")
    again = classifier(context=tmp_path / "my.context.json")
    assert again.context.digest == found.context.digest
    assert again(photos[1]).scores.tobytes() == found(photos[1]).scores.tobytes()
    assert pickle.loads(pickle.dumps(found.context)).digest == found.context.digest


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"labels": ["green", "red", "blue"]}, "other labels"),
        ({"templates": "ensemble"}, "other labels or templates"),
        ({"method": "tda"}, "takes no context"),
    ],
)
def test_a_context_of_something_else_is_refused(photos, settings, match):
    found = classifier().with_context(photos).context
    with pytest.raises(UsageError, match=match):
        Classifier(**({"model": "toy", "labels": LABELS, "n_views": 8} | settings), context=found)


def test_a_context_of_another_model_is_refused(photos):
    with pytest.raises(UsageError, match="made with the model 'toy'"):
        Classifier(Contrary(), labels=LABELS, context=classifier().with_context(photos).context)


def test_other_labels_leave_the_context_behind(photos):
    assert classifier().with_context(photos).with_labels(["red", "blue"]).context is None


def test_streaming_methods_gather_none(photos):
    with pytest.raises(UsageError, match="takes no context"):
        classifier(method="tda").with_context(photos)


def test_photos_that_are_too_few_are_no_error(photos):
    found = classifier().with_context(photos[:3])
    assert not found.context.is_used
    assert found.context.note == "context: 3 photos are too few; 8 are needed; not used"
    assert found(photos[0]).scores.tobytes() == classifier()(photos[0]).scores.tobytes()


def test_source_logits_come_in_order_with_errors_in_place(photos, tmp_path):
    (tmp_path / "broken.png").write_bytes(b"no picture")
    found = list(source_logits(classifier(), [photos[0], tmp_path / "broken.png", photos[1]]))
    assert [isinstance(one, SourceLogits) for one in found] == [True, False, True]


def test_whether_any_label_is_there_is_asked_of_the_photo_alone(photos):
    plain = classifier(none_of_these=True, multi_label=True)
    found = plain.with_context(photos)
    one, other = plain(photos[0]), found(photos[0])
    assert other.each.probabilities.tolist() == one.each.probabilities.tolist()
    assert other.probabilities[-1] == pytest.approx(one.probabilities[-1], abs=1e-6)
    assert list(other.to_dict(trace=True)["context"]["taken_off"]) == LABELS


class Counting(ToyEncoder):
    """A toy that counts the views it encodes."""

    def __init__(self):
        super().__init__(logit_scale=8.0)
        self.count = 0

    def encode_images(self, views):
        self.count += len(views)
        return super().encode_images(views)


@pytest.mark.parametrize("settings", [{"method": "zero-shot"}, {"method": "zero", "n_views": "adaptive"}])
def test_source_views_of_the_context_are_not_encoded_again_and_answers_are_the_same_bits(photos, settings):
    encoder = Counting()
    found = Classifier(encoder, labels=LABELS, **settings).with_context(photos)
    assert encoder.count == len(photos)
    answers = list(found.predict_many([*photos, tinted(1, seed=9)[0]]))
    looked = sum(one.views_used for one in answers)
    assert encoder.count == looked  # every view once, in the pass or for the vote
    afresh = Classifier(Counting(), labels=LABELS, context=found.context, **settings)
    for one, other in zip(answers, afresh.predict_many([*photos, tinted(1, seed=9)[0]]), strict=True):
        assert one.scores.tobytes() == other.scores.tobytes()
        assert (one.probability, one.views_used, one.stop) == (other.probability, other.views_used, other.stop)


def test_a_cascade_and_a_full_budget_encode_what_they_look_at(photos):
    for settings in ({"teacher": Contrary(), "n_views": "adaptive", "method": "zero"}, {"n_views": 8}):
        found = Classifier(ToyEncoder(), labels=LABELS, **settings)
        with_sources = found.with_context(photos)
        without = found.in_context(with_sources.context)
        for one in photos[:5]:
            assert with_sources(one).scores.tobytes() == without(one).scores.tobytes()
