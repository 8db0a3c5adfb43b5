"""The streaming context: the folder's maths on the images so far, in order, and a mark in tables."""

from dataclasses import replace

import numpy as np
import pytest

from tests.methods.test_streaming import images
from viewvote import Classifier
from viewvote.context.published import PUBLISHED
from viewvote.context.rule import LEAST_PHOTOS, estimate
from viewvote.errors import UnknownNameError
from viewvote.methods import METHODS, method_entry
from viewvote.methods.anchored import Anchored
from viewvote.methods.baselines import ZeroShot
from viewvote.methods.streaming.context import VOTES, RunningContext
from viewvote.methods.zero import Zero

DECIDERS = {"anchored": Anchored(keep=0.5), "zero": Zero(keep=0.5), "zero-shot": ZeroShot()}


@pytest.mark.parametrize("vote", VOTES)
def test_each_image_is_decided_on_logits_less_what_those_so_far_attract(vote):
    pulled = np.array([4, 0, 0, 0], dtype=np.float32)
    data = [replace(one, logits=one.logits + pulled) for one in images(40, views=6)]
    stream = RunningContext(vote=vote, keep=0.5, growth=1.0).start()
    changed = 0
    for n, one in enumerate(data, start=1):
        found = stream.decide(one)
        offsets = np.zeros(4, dtype=np.float32)
        if n >= LEAST_PHOTOS:
            offsets = estimate(np.array([past.logits[0] for past in data[:n]])).offsets
        expected = DECIDERS[vote].decide(replace(one, logits=one.logits - offsets))
        assert found.scores == pytest.approx(expected.scores, abs=1e-5)
        changed += not np.allclose(found.scores, DECIDERS[vote].decide(one).scores, atol=1e-3)
    assert changed > 0


def test_the_pull_is_estimated_again_only_as_the_stream_grows(monkeypatch):
    sizes = []

    def counted(logits):
        sizes.append(len(logits))
        return estimate(logits)

    monkeypatch.setattr("viewvote.methods.streaming.context.estimate", counted)
    stream = RunningContext(vote="zero-shot", growth=1.5).start()
    for one in images(40):
        stream.decide(one)
    assert sizes == [8, 12, 18, 27]


def test_a_stream_in_another_order_gives_other_answers_and_a_reset_the_same():
    data = images(60)
    method = RunningContext(vote="zero-shot")
    first, again = method.start(), method.start()
    forward = np.array([first.decide(one).scores for one in data])
    np.testing.assert_array_equal(forward, [again.decide(one).scores for one in data])
    backward = method.start()
    assert (forward[::-1] != np.array([backward.decide(one).scores for one in data[::-1]])).any()


def test_the_probability_is_of_the_views_that_were_decided_on():
    rng = np.random.default_rng(0)
    photos = [
        np.clip(np.add(rng.integers(0, 160, (24, 24, 3)), (90, 0, 0)), 0, 255).astype(np.uint8) for _ in range(30)
    ]
    clf = Classifier("toy", labels=["red", "green", "blue"], method="context", n_views=4)
    stream = RunningContext().start()
    for photo in photos:
        sample = clf.prepare(photo)
        features = clf.encoder.encode_images(sample.pixels)
        setup = clf.setup()
        prediction = clf(photo)
        decision = stream.decide(
            replace(images(1)[0], logits=setup.model.logits(features), likeness=clf.likeness, tie_draw=sample.tie_draw)
        )
        assert prediction.index == decision.index
    less = decision.seen
    kept = decision.views.kept
    blend = 0.5 * np.exp(less.logp[0]) + 0.5 * np.exp(less.logp[kept]).mean(axis=0)
    assert prediction.probability == pytest.approx(blend[prediction.index], abs=1e-5)


def test_it_is_in_the_registry_as_one_that_streams():
    entry = method_entry("context")
    assert entry.streams
    assert entry.keep == METHODS.get("context")().keep
    assert RunningContext(vote="zero-shot").views_used(64) == 1
    assert RunningContext().views_used(64) == 64
    assert RunningContext().asks_likeness
    assert not RunningContext(vote="zero").asks_likeness


def test_another_vote_is_refused():
    with pytest.raises(UnknownNameError, match="anchored, zero, zero-shot"):
        RunningContext(vote="zer")


@pytest.mark.parametrize("pull", PUBLISHED)
def test_published_corrections_are_taken_off_whatever_the_mix(pull):
    data = images(20)
    stream = RunningContext(vote="zero-shot", pull=pull, growth=1.0).start()
    for n, one in enumerate(data, start=1):
        found = stream.decide(one)
        if n >= LEAST_PHOTOS:
            logits = np.array([past.logits[0] for past in data[:n]])
            expected = ZeroShot().decide(replace(one, logits=one.logits - PUBLISHED[pull](logits).astype(np.float32)))
            assert found.scores == pytest.approx(expected.scores, abs=1e-4)


def test_an_unknown_pull_is_named_with_those_there_are():
    with pytest.raises(UnknownNameError, match="dn, frolic, rule"):
        RunningContext(pull="otter")
