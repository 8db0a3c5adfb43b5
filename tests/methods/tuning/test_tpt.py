"""TPT against a naive CLIP in float64: its loss, its gradient, its step, its answer."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("open_clip")

import torch

from tests.encoders.torch.naive_clip import random_views
from tests.methods.tuning.tuning_cases import (
    NAMES,
    Zoo,
    episode_on,
    is_frozen,
    naive_entropy,
    naive_kept,
    naive_softmax,
    poisoned,
    probes,
    recorded,
    sign_step,
    slope,
    state_bits,
)
from viewvote.classify.classifier import Classifier
from viewvote.encoders import LoadOptions, load_encoder
from viewvote.encoders.toy import ToyEncoder
from viewvote.errors import NonFiniteError, UnsupportedEncoderError, UsageError
from viewvote.methods import METHODS
from viewvote.methods.tuning.steps import Recipe, agreement, marginal_entropy, tune
from viewvote.methods.tuning.students import context_student, prompt_student
from viewvote.methods.tuning.tpt import Tpt

pytestmark = pytest.mark.torch
WORDS = "a photo of a"


@pytest.fixture(scope="module")
def zoo(tmp_path_factory):
    return Zoo(tmp_path_factory.mktemp("zoo"))


def naive_text(zoo, context, words="X X X X", deep=()):
    return np.array([zoo.naive.text(f"{words} {name.replace('_', ' ')}.", context, deep) for name in NAMES])


def naive_loss(zoo, features, context, words="X X X X"):
    """The entropy of p-bar over the given views, all in float64."""
    logits = zoo.plain.logit_scale * features.astype(np.float64) @ naive_text(zoo, context, words).T
    return float(naive_entropy(naive_softmax(logits).mean(axis=0)))


def test_the_defaults_are_the_authors():
    method = Tpt()
    assert (method.keep, method.weight_decay, method.steps, method.words) == (0.1, 0.01, 1, WORDS)
    assert method._recipe(5e-3).lr == 5e-3
    assert (method.name, method.views_used(64)) == ("tpt", 64)
    assert METHODS.get("tpt") is Tpt


def test_six_of_sixty_four_views_are_kept(zoo):
    decision = Tpt().adapt(episode_on(zoo.plain, n_views=64))
    assert decision.views.kept.sum() == 6


def test_marginal_entropy_by_hand():
    logits = torch.log(torch.tensor([[0.8, 0.2], [0.4, 0.6]]))  # p-bar is (0.6, 0.4)
    assert marginal_entropy(logits).item() == pytest.approx(-0.6 * np.log(0.6) - 0.4 * np.log(0.4), abs=1e-6)


def test_marginal_entropy_of_certain_views_is_zero_with_a_finite_gradient():
    logits = torch.tensor([[1000.0, 0.0, -1000.0]], requires_grad=True)
    loss = marginal_entropy(logits)
    loss.backward()
    assert loss.item() == 0
    assert logits.grad.isfinite().all()


def test_loss_gradient_and_step_are_those_of_the_naive_model(zoo):
    episode, seen = episode_on(zoo.plain, n_views=6), []
    kept = naive_kept(episode.logits, 0.5)
    with context_student(zoo.plain, episode, words=WORDS, chunk=2) as student:
        (context,) = student.parameters
        before = context.detach().numpy().astype(np.float64)
        decision = tune(student, Recipe(0.5, 5e-3, 0.01, 1), loss_on=recorded(agreement, seen))
        after, gradient = context.detach().numpy(), context.grad.numpy().astype(np.float64)
    assert np.flatnonzero(decision.views.kept).tolist() == sorted(kept)

    def loss(vectors):
        return naive_loss(zoo, episode.features[kept], vectors)

    assert seen[0] == pytest.approx(loss(before), abs=2e-6)
    for direction in probes(before.shape, 3):
        assert np.sum(gradient * direction) == pytest.approx(slope(loss, before, direction), rel=2e-3, abs=2e-6)
    np.testing.assert_allclose(after, sign_step(before, gradient, lr=5e-3, weight_decay=0.01), atol=2e-7)


def test_the_answer_is_the_source_view_with_the_tuned_context(zoo):
    episode = episode_on(zoo.plain, n_views=6)
    with context_student(zoo.plain, episode, words=WORDS, chunk=64) as student:
        before = student.parameters[0].detach().numpy().astype(np.float64)
        tune(student, Recipe(0.5, 5e-3, 0.01, 1), loss_on=agreement)
        gradient = student.parameters[0].grad.numpy().astype(np.float64)
    moved = sign_step(before, gradient, lr=5e-3, weight_decay=0.01)
    expected = naive_softmax(zoo.plain.logit_scale * naive_text(zoo, moved) @ episode.features[0])
    decision = Tpt(keep=0.5).adapt(episode)
    np.testing.assert_allclose(decision.scores, expected, atol=2e-5)
    assert decision.index == expected.argmax()
    assert decision.confidence == pytest.approx(expected.max(), abs=2e-5)
    untuned = naive_softmax(episode.logits[0])
    assert np.abs(decision.scores - untuned).max() > 1e-4


def test_the_trace_tells_what_the_views_said_before_tuning(zoo):
    episode = episode_on(zoo.plain)
    decision = Tpt(keep=0.25).adapt(episode)
    p = naive_softmax(episode.logits.astype(np.float64))
    np.testing.assert_array_equal(decision.views.labels, p.argmax(axis=1))
    np.testing.assert_allclose(decision.views.entropy, naive_entropy(p), atol=1e-5)
    np.testing.assert_allclose(decision.views.top_probability, p.max(axis=1), atol=1e-5)
    assert (decision.votes, decision.notes, decision.marginal_before) == (None, (), None)


def test_views_are_chosen_by_the_context_whatever_the_templates_say(zoo):
    episode = episode_on(zoo.plain)
    other = replace(episode, logits=-episode.logits, text=-episode.text)
    decisions = [Tpt(keep=0.5).adapt(one) for one in (episode, other)]
    np.testing.assert_array_equal(decisions[0].views.kept, decisions[1].views.kept)
    np.testing.assert_array_equal(decisions[0].scores, decisions[1].scores)


def test_a_model_in_half_precision_is_tuned_in_full(zoo):
    half = load_encoder(zoo.plain.model_id, LoadOptions(device="cpu", dtype="bf16"))
    with context_student(half, episode_on(half), words=WORDS, chunk=64) as student:
        decision = tune(student, Recipe(0.5, 5e-3, 0.01, 1), loss_on=agreement)
        assert student.parameters[0].dtype == torch.float32
    expected = Tpt(keep=0.5).adapt(episode_on(zoo.plain))
    np.testing.assert_allclose(decision.scores, expected.scores, atol=0.1)


def test_on_coop_the_context_starts_from_the_checkpoint(zoo):
    episode, seen = episode_on(zoo.coop, n_views=6), []
    with context_student(zoo.coop, episode, words=WORDS, chunk=64) as student:
        assert student.parameters[0].shape == (3, 16)
        tune(student, Recipe(0.5, 5e-3, 0.01, 1), loss_on=recorded(agreement, seen))
        gradient = student.parameters[0].grad.numpy().astype(np.float64)
    released = zoo.coop_state["ctx"].double().numpy()
    kept = naive_kept(episode.logits, 0.5)
    assert seen[0] == pytest.approx(naive_loss(zoo, episode.features[kept], released, "X X X"), abs=2e-6)
    moved = sign_step(released, gradient, lr=5e-3, weight_decay=0.01)
    expected = naive_softmax(zoo.coop.logit_scale * naive_text(zoo, moved, "X X X") @ episode.features[0])
    np.testing.assert_allclose(Tpt(keep=0.5).adapt(episode).scores, expected, atol=2e-5)


def test_on_maple_every_learned_tensor_takes_the_sign_step(zoo):
    episode = episode_on(zoo.maple, n_views=6)
    with prompt_student(zoo.maple, episode, chunk=2) as student:
        names = list(zoo.maple.prompt_parameters())
        before = [p.detach().numpy().astype(np.float64) for p in student.parameters]
        tune(student, Recipe(0.5, 4e-2, 0.01, 1), loss_on=agreement)
        after = [p.detach().numpy().copy() for p in student.parameters]
        gradients = [p.grad.numpy().astype(np.float64) for p in student.parameters]
    assert len(names) == 3 + 3 * 2
    for name, old, new, gradient in zip(names, before, after, gradients, strict=True):
        assert np.abs(gradient).max() > 0, name
        np.testing.assert_allclose(new, sign_step(old, gradient, lr=4e-2, weight_decay=0.01), atol=2e-6, err_msg=name)


def test_several_steps_lower_the_entropy_step_by_step(zoo):
    seen = []
    with context_student(zoo.plain, episode_on(zoo.plain), words=WORDS, chunk=64) as student:
        tune(student, Recipe(0.5, 1e-3, 0.01, 4), loss_on=recorded(agreement, seen))
    assert len(seen) == 4
    assert seen == sorted(seen, reverse=True)
    assert seen[0] - seen[-1] > 1e-4


@pytest.mark.parametrize("form", ["plain", "coop", "maple"])
def test_p_bar_is_recorded_and_a_small_step_lowers_its_entropy(zoo, form):
    encoder = getattr(zoo, form)
    episode = episode_on(encoder)
    plain, recorded_too = (Tpt(keep=0.5, lr=1e-4, record_marginal=flag).adapt(episode) for flag in (False, True))
    np.testing.assert_array_equal(plain.scores, recorded_too.scores)
    kept = naive_kept(episode.logits, 0.5)
    before, after = recorded_too.marginal_before, recorded_too.marginal_after
    np.testing.assert_allclose(before, naive_softmax(episode.logits[kept]).mean(axis=0), atol=2e-6)
    assert after.sum() == pytest.approx(1, abs=1e-5)
    assert naive_entropy(after.astype(np.float64)) < naive_entropy(before.astype(np.float64))


@pytest.mark.parametrize("form", ["plain", "coop", "maple"])
def test_everything_is_put_back_bit_for_bit(zoo, form):
    encoder = getattr(zoo, form)
    before = state_bits(encoder)
    Tpt(keep=0.5, steps=2).adapt(episode_on(encoder))
    assert state_bits(encoder) == before
    assert is_frozen(encoder)


@pytest.mark.parametrize("form", ["plain", "maple"])
def test_everything_is_put_back_after_an_error_too(zoo, form, monkeypatch):
    encoder = getattr(zoo, form)
    episode, before = episode_on(encoder), state_bits(encoder)
    calls = []

    def fails(_optimizer):
        calls.append(1)
        step(_optimizer)
        if len(calls) == 2:
            raise RuntimeError("out of memory")

    step = torch.optim.AdamW.step
    monkeypatch.setattr(torch.optim.AdamW, "step", fails)
    with pytest.raises(RuntimeError, match="out of memory"):
        Tpt(keep=0.5, steps=3).adapt(episode)
    assert len(calls) == 2
    assert state_bits(encoder) == before
    assert is_frozen(encoder)


@pytest.mark.parametrize("form", ["plain", "coop", "maple"])
def test_an_answer_does_not_depend_on_the_images_before_it(zoo, form):
    encoder = getattr(zoo, form)
    method = Tpt(keep=0.5, steps=2)
    first, second = (episode_on(encoder, seed=seed) for seed in (1, 2))
    forth = [method.adapt(one).scores for one in (first, second)]
    back = [method.adapt(one).scores for one in (second, first)]
    np.testing.assert_array_equal(forth, back[::-1])


@pytest.mark.parametrize("form", ["plain", "maple"])
def test_a_gradient_that_is_not_finite_skips_the_step_and_says_so(zoo, form, monkeypatch):
    encoder = getattr(zoo, form)
    episode = episode_on(encoder)
    name = "class_features" if form == "maple" else "text_features_from_context"
    monkeypatch.setattr(encoder, name, poisoned(getattr(encoder, name)))
    decision = Tpt(keep=0.5, steps=3).adapt(episode)
    assert decision.notes == ("step 1 of 3 and later skipped: non-finite gradient",)
    np.testing.assert_allclose(decision.scores, naive_softmax(episode.logits[0]), atol=2e-6)
    assert is_frozen(encoder)


def test_broken_features_are_an_error(zoo):
    episode = episode_on(zoo.plain)
    episode.features[3] = np.nan
    with pytest.raises(NonFiniteError, match="view 3"):
        Tpt().adapt(episode)


def test_it_works_under_inference_mode_and_no_grad(zoo):
    episode = episode_on(zoo.maple)
    expected = Tpt().adapt(episode).scores
    for mode in (torch.inference_mode, torch.no_grad):
        with mode():
            np.testing.assert_array_equal(Tpt().adapt(episode).scores, expected)
    assert is_frozen(zoo.maple)


def test_an_encoder_that_cannot_be_tuned_is_refused_before_any_image(zoo):
    with pytest.raises(UnsupportedEncoderError, match="tpt tunes context vectors inside the text tower, which 'toy'"):
        Classifier(ToyEncoder(), labels=["red", "green"], method="tpt")


@pytest.mark.parametrize("wrong", [{"steps": 0}, {"lr": 0.0}, {"weight_decay": -1.0}, {"keep": 0.0}])
def test_settings_outside_what_makes_sense_are_refused_before_any_image(zoo, wrong):
    with pytest.raises(UsageError, match=r"must be above 0|at least one step"):
        Classifier(zoo.plain, labels=["red", "green"], method=Tpt(**wrong))


def test_the_classifier_gives_the_same_answers_alone_and_together(zoo):
    classifier = Classifier(zoo.plain, labels=NAMES, method=Tpt(keep=0.25, record_marginal=True), n_views=8)
    images = [random_views(1, seed)[0] for seed in range(3)]
    alone = [classifier(image) for image in images]
    together = list(classifier.predict_many(images, batch_views=24))
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_allclose(one.scores, other.scores, atol=1e-5)
        assert one.method == "tpt"
        assert one.probability == pytest.approx(float(one.scores[one.index]))
        assert len(one.kept) == 2
        trace = one.to_dict(trace=True)["trace"]
        assert len(trace["marginal_before"]) == len(trace["marginal_after"]) == 3
        assert "notes" not in one.to_dict()


def test_notes_reach_the_prediction(zoo, monkeypatch):
    classifier = Classifier(zoo.plain, labels=NAMES, method="tpt", n_views=4)
    monkeypatch.setattr(
        zoo.plain, "text_features_from_context", poisoned(zoo.plain.text_features_from_context), raising=True
    )
    prediction = classifier(random_views(1)[0])
    assert "non-finite gradient" in prediction.notes[0]
    assert prediction.to_dict()["notes"] == list(prediction.notes)
