"""RLCF against its description in numpy: rewards, loss, gradient, steps and the answer, for prompts and for towers."""

import numpy as np
import pytest

pytest.importorskip("open_clip")

import torch

from tests.encoders.torch.naive_clip import random_views, save_tiny
from tests.methods.tuning.tuning_cases import (
    CPU,
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
from viewvote.errors import UnknownNameError, UnsupportedEncoderError, UsageError
from viewvote.methods import METHODS
from viewvote.methods.tuning.rlcf import Rlcf, clip_scores, rewarded_cross_entropy
from viewvote.methods.tuning.steps import Recipe, tune
from viewvote.methods.tuning.students import context_student, vision_student
from viewvote.methods.tuning.vision_momentum import VisionMomentum

pytestmark = pytest.mark.torch
MORE = (*NAMES, "oil rig", "teapot")


@pytest.fixture(scope="module")
def zoo(tmp_path_factory):
    return Zoo(tmp_path_factory.mktemp("zoo"))


@pytest.fixture(scope="module")
def teacher(tmp_path_factory):
    """Another tiny CLIP, so that it disagrees with the student."""
    folder = save_tiny(tmp_path_factory.mktemp("teacher"))
    encoder = load_encoder(f"open_clip:local-dir:{folder}", CPU)
    with torch.no_grad():
        for i, parameter in enumerate(encoder.model.parameters()):
            parameter += 0.3 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(i))
    return encoder


def naive_rewarded(logits, scores, k):
    """The loss in words: reward of each candidate times its cross-entropy, averaged."""
    terms = []
    for row, score in zip(logits, scores, strict=True):
        best = sorted(range(len(row)), key=lambda c: -row[c])[:k]
        baseline = np.mean([score[c] for c in best])
        logp = np.log(naive_softmax(row))
        terms += [(score[c] - baseline) * -logp[c] for c in best]
    return float(np.mean(terms))


def naive_scores(episode, kept):
    teacher = episode.teacher
    features = teacher.encoder.encode_images(episode.pixels[kept]).astype(np.float64)
    return np.maximum(2.5 * features @ teacher.text.T.astype(np.float64), 0)


def test_the_defaults_are_those_of_the_authors_scripts():
    prompt, image = Rlcf(), Rlcf(tune="image")
    assert (prompt.keep, prompt.candidates, prompt.steps, prompt.weight_decay) == (0.1, 3, 3, 5e-4)
    assert (prompt._recipe(7e-3).lr, image._recipe(1e-5).lr, Rlcf(lr=0.1)._recipe(7e-3).lr) == (7e-3, 1e-5, 0.1)
    assert (prompt.momentum, image.momentum) == (None, None)
    assert METHODS.get("rlcf") is Rlcf


def test_the_rewarded_loss_by_hand():
    logits = torch.log(torch.tensor([[0.5, 0.3, 0.2], [0.1, 0.2, 0.7]]))
    scores = torch.tensor([[0.4, 0.6, 0.9], [0.0, 0.2, 0.4]])
    # candidates 0, 1 of view 0: rewards -0.1, 0.1; candidates 2, 1 of view 1: rewards 0.1, -0.1
    expected = (0.1 * np.log(0.5) - 0.1 * np.log(0.3) - 0.1 * np.log(0.7) + 0.1 * np.log(0.2)) / 4
    assert rewarded_cross_entropy(logits, scores, candidates=2).item() == pytest.approx(expected, abs=1e-6)


def test_one_candidate_earns_nothing():
    logits, scores = torch.randn(4, 5, generator=torch.Generator().manual_seed(0)), torch.rand(4, 5)
    assert rewarded_cross_entropy(logits, scores, candidates=1).item() == 0


def test_fewer_classes_than_candidates_are_all_candidates():
    logits, scores = torch.tensor([[2.0, 1.0]]), torch.tensor([[0.3, 0.5]])
    expected = naive_rewarded(logits.numpy(), scores.numpy(), 3)
    assert rewarded_cross_entropy(logits, scores, candidates=3).item() == pytest.approx(expected, abs=1e-6)


def test_clip_scores_are_weighted_cosines_cut_at_zero(zoo, teacher):
    episode = episode_on(zoo.plain, teacher=teacher, names=MORE)
    episode.teacher.text[0] *= -1  # a class that looks away from every image
    scores = clip_scores(episode.teacher, np.array([4, 1])).numpy()
    np.testing.assert_allclose(scores, naive_scores(episode, [4, 1]), atol=1e-6)
    assert (scores[:, 0] == 0).all()
    assert (scores[:, 1:] > 0).all()


def test_prompt_loss_gradient_and_step_are_the_naive_ones(zoo, teacher):
    episode, seen = episode_on(zoo.plain, n_views=6, teacher=teacher), []
    method = Rlcf(keep=0.5, candidates=2)
    kept = naive_kept(episode.logits, 0.5)
    with context_student(zoo.plain, episode, words="a photo of a", chunk=2) as student:
        (context,) = student.parameters
        before = context.detach().numpy().astype(np.float64)
        loss_on = recorded(lambda kept: method._loss(episode.teacher, kept), seen)
        decision = tune(student, Recipe(0.5, 7e-3, 5e-4, 1), loss_on=loss_on)
        after, gradient = context.detach().numpy(), context.grad.numpy().astype(np.float64)
    assert np.flatnonzero(decision.views.kept).tolist() == sorted(kept)
    scores, features = naive_scores(episode, kept), episode.features[kept].astype(np.float64)

    def loss(vectors):
        text = np.array([zoo.naive.text(f"X X X X {name.replace('_', ' ')}.", vectors) for name in NAMES])
        return naive_rewarded(zoo.plain.logit_scale * features @ text.T, scores, 2)

    assert seen[0] == pytest.approx(loss(before), abs=1e-6)
    for direction in probes(before.shape, 2):
        assert np.sum(gradient * direction) == pytest.approx(slope(loss, before, direction), rel=2e-3, abs=1e-6)
    np.testing.assert_allclose(after, sign_step(before, gradient, lr=7e-3, weight_decay=5e-4), atol=2e-7)


def test_image_loss_gradient_and_step_are_the_naive_ones(zoo, teacher):
    episode, seen = episode_on(zoo.plain, n_views=6, teacher=teacher), []
    method = Rlcf(tune="image", keep=0.5, candidates=2)
    kept = naive_kept(episode.logits, 0.5)
    with vision_student(zoo.plain, episode) as student:
        names = [n for n, _ in zoo.plain.model.named_parameters() if n.startswith("visual.")]
        before = [p.detach().numpy().astype(np.float64) for p in student.parameters]
        loss_on = recorded(lambda kept: method._loss(episode.teacher, kept), seen)
        tune(student, Recipe(0.5, 1e-3, 5e-4, 1), loss_on=loss_on)
        after = [p.detach().numpy().copy() for p in student.parameters]
        gradients = [p.grad.numpy().astype(np.float64) for p in student.parameters]
    scores, text = naive_scores(episode, kept), episode.text.astype(np.float64)

    def loss_with(name):
        def loss(values):
            old, zoo.naive.w[name] = zoo.naive.w[name], values
            features = np.array([zoo.naive.image(view)[0] for view in episode.pixels[kept]])
            zoo.naive.w[name] = old
            return naive_rewarded(zoo.plain.logit_scale * features @ text.T, scores, 2)

        return loss

    own = dict(zip(names, zip(before, after, gradients, strict=True), strict=True))
    assert seen[0] == pytest.approx(loss_with("visual.proj")(own["visual.proj"][0]), abs=2e-6)
    for name in ("visual.conv1.weight", "visual.class_embedding", "visual.transformer.resblocks.4.ln_1.bias"):
        (direction,) = probes(own[name][0].shape, 1)
        expected = slope(loss_with(name), own[name][0], direction)
        assert np.sum(own[name][2] * direction) == pytest.approx(expected, rel=5e-3, abs=1e-6), name
    for name, (old, new, gradient) in own.items():
        expected = sign_step(old, gradient, lr=1e-3, weight_decay=5e-4)
        np.testing.assert_allclose(new, expected, atol=5e-7, err_msg=name)


def test_the_answer_follows_the_steps_of_a_plain_loop(zoo, teacher):
    """Three steps written out with torch's own optimiser on a copy of the tower."""
    episode = episode_on(zoo.plain, teacher=teacher, names=MORE)
    kept, text = naive_kept(episode.logits, 0.25), torch.tensor(episode.text)
    scores = torch.tensor(naive_scores(episode, kept))
    before = zoo.plain.snapshot_vision()
    parameters = [p.requires_grad_() for p in zoo.plain.vision_parameters()]
    optimizer = torch.optim.AdamW(parameters, lr=1e-4, weight_decay=5e-4)
    for _ in range(3):
        logits = zoo.plain.logit_scale * zoo.plain.image_features_with_grad(episode.pixels[kept]) @ text.T
        best = logits.topk(3, dim=1).indices
        reward = scores.gather(1, best) - scores.gather(1, best).mean(dim=1, keepdim=True)
        rows, columns = np.repeat(np.arange(len(kept)), 3), best.flatten()
        entropy = torch.nn.functional.cross_entropy(logits[rows], columns, reduction="none")
        optimizer.zero_grad()
        (reward.flatten() * entropy).mean().backward()
        optimizer.step()
    expected = naive_softmax(zoo.plain.logit_scale * zoo.plain.encode_images(episode.pixels[:1])[0] @ episode.text.T)
    zoo.plain.restore_vision(before)
    decision = Rlcf(tune="image", keep=0.25, lr=1e-4).adapt(episode)
    np.testing.assert_allclose(decision.scores, expected, atol=1e-5)
    assert np.abs(decision.scores - naive_softmax(episode.logits[0])).max() > 1e-3


@pytest.mark.parametrize("part", ["prompt", "image"])
def test_everything_is_put_back_bit_for_bit(zoo, teacher, part):
    before = state_bits(zoo.plain), state_bits(teacher)
    Rlcf(tune=part, keep=0.5).adapt(episode_on(zoo.plain, teacher=teacher))
    assert (state_bits(zoo.plain), state_bits(teacher)) == before
    assert is_frozen(zoo.plain)


@pytest.mark.parametrize("part", ["prompt", "image"])
def test_everything_is_put_back_after_an_error_too(zoo, teacher, part, monkeypatch):
    episode, before = episode_on(zoo.plain, teacher=teacher), state_bits(zoo.plain)
    step = torch.optim.AdamW.step

    def fails(optimizer):
        step(optimizer)
        raise RuntimeError("out of memory")

    monkeypatch.setattr(torch.optim.AdamW, "step", fails)
    with pytest.raises(RuntimeError, match="out of memory"):
        Rlcf(tune=part, keep=0.5).adapt(episode)
    assert state_bits(zoo.plain) == before
    assert is_frozen(zoo.plain)


@pytest.mark.parametrize("part", ["prompt", "image"])
def test_an_answer_does_not_depend_on_the_images_before_it(zoo, teacher, part):
    method = Rlcf(tune=part, keep=0.5, steps=2)
    first, second = (episode_on(zoo.plain, seed=seed, teacher=teacher) for seed in (1, 2))
    forth = [method.adapt(one).scores for one in (first, second)]
    back = [method.adapt(one).scores for one in (second, first)]
    np.testing.assert_array_equal(forth, back[::-1])


@pytest.mark.parametrize("part", ["prompt", "image"])
def test_a_gradient_that_is_not_finite_skips_the_step_and_says_so(zoo, teacher, part, monkeypatch):
    episode = episode_on(zoo.plain, teacher=teacher)
    name = "text_features_from_context" if part == "prompt" else "image_features_with_grad"
    monkeypatch.setattr(zoo.plain, name, poisoned(getattr(zoo.plain, name)))
    decision = Rlcf(tune=part, keep=0.5).adapt(episode)
    assert decision.notes == ("step 1 of 3 and later skipped: non-finite gradient",)
    np.testing.assert_allclose(decision.scores, naive_softmax(episode.logits[0]), atol=2e-6)


def test_p_bar_is_recorded(zoo, teacher):
    episode = episode_on(zoo.plain, teacher=teacher)
    decision = Rlcf(tune="image", keep=0.5, record_marginal=True).adapt(episode)
    expected = naive_softmax(episode.logits[naive_kept(episode.logits, 0.5)]).mean(axis=0)
    np.testing.assert_allclose(decision.marginal_before, expected, atol=2e-6)
    assert naive_entropy(decision.marginal_after.astype(np.float64)) > 0


def test_the_model_may_teach_itself(zoo):
    """Its scores are taken before the first step, so the tower that is tuned does not judge itself half-tuned."""
    episode = episode_on(zoo.plain, teacher=zoo.plain)
    before = state_bits(zoo.plain)
    decision = Rlcf(tune="image", keep=0.5).adapt(episode)
    assert decision.scores.sum() == pytest.approx(1, abs=1e-5)
    assert state_bits(zoo.plain) == before


def test_the_forgotten_underscores_are_nine_tokens_instead_of_six(zoo):
    tokens = zoo.plain.token_ids(["a_photo_of_a dog.", "a photo of a dog."]).numpy()
    assert tokens[0, 1:10].tolist() == [320, 318, 1125, 318, 539, 318, 320, 1929, 269]
    assert tokens[1, 1:7].tolist() == [320, 1125, 539, 320, 1929, 269]
    compat = Rlcf(tune="image", prefix="a_photo_of_a")
    assert compat.templates == "a_photo_of_a {}."
    assert Rlcf(tune="image").templates == "a photo of a {}."
    assert Rlcf(prefix="a_photo_of_a").templates == "a photo of a {}."  # prompt tuning replaced them
    classifier = Classifier(zoo.plain, labels=NAMES, method=compat, teacher=zoo.plain)
    expected = zoo.plain.encode_texts([f"a_photo_of_a {name.replace('_', ' ')}." for name in NAMES])
    np.testing.assert_allclose(classifier.text_head.features, expected, atol=1e-6)
    np.testing.assert_allclose(classifier.teacher_head.features, expected, atol=1e-6)


def test_it_starts_from_coop_and_the_teacher_reads_the_plain_prompt(zoo, teacher):
    classifier = Classifier(zoo.coop, labels=NAMES, method="rlcf", teacher=teacher, n_views=6)
    expected = teacher.encode_texts([f"a photo of a {name.replace('_', ' ')}." for name in NAMES])
    np.testing.assert_allclose(classifier.teacher_head.features, expected, atol=1e-6)
    prediction = classifier(random_views(1)[0])
    assert prediction.method == "rlcf"
    assert prediction.model == f"{zoo.coop.model_id} -> {teacher.model_id}"
    assert prediction.notes == ()


def test_what_it_needs_is_said_before_any_image(zoo, teacher):
    with pytest.raises(UsageError, match="there is no teacher: name one"):
        Classifier(zoo.plain, labels=NAMES, method="rlcf")
    with pytest.raises(UnsupportedEncoderError, match="rlcf tunes context vectors"):
        Classifier(ToyEncoder(), labels=["red"], method="rlcf", teacher=teacher)
    with pytest.raises(UnsupportedEncoderError, match="rlcf tunes the weights of the vision tower"):
        Classifier(ToyEncoder(), labels=["red"], method=Rlcf(tune="image"), teacher=teacher)
    half = load_encoder(zoo.plain.model_id, LoadOptions(device="cpu", dtype="bf16"))
    with pytest.raises(UnsupportedEncoderError, match='dtype "fp32"'):
        Classifier(half, labels=NAMES, method=Rlcf(tune="image"), teacher=teacher)
    with pytest.raises(UnknownNameError, match=r"no tuned part 'images'\. Did you mean 'image'"):
        Classifier(zoo.plain, labels=NAMES, method=Rlcf(tune="images"), teacher=teacher)
    with pytest.raises(UsageError, match="candidates must be at least 1"):
        Classifier(zoo.plain, labels=NAMES, method=Rlcf(candidates=0), teacher=teacher)
    with pytest.raises(UsageError, match="needs the setting tune=image"):
        Classifier(zoo.plain, labels=NAMES, method=Rlcf(momentum=VisionMomentum()), teacher=teacher)
    with pytest.raises(UsageError, match="needs an episode with a teacher"):
        Rlcf().adapt(episode_on(zoo.plain))


def test_momentum_averages_tuned_towers_and_moves_the_start(zoo, teacher):
    episodes = [episode_on(zoo.plain, seed=seed, teacher=teacher) for seed in range(3)]
    before = state_bits(zoo.plain)
    own = zoo.plain.snapshot_vision()
    alone = Rlcf(tune="image", keep=0.5, lr=1e-3)
    momentum = VisionMomentum(decay=0.5, every=2, weight=0.5)
    method = Rlcf(tune="image", keep=0.5, lr=1e-3, momentum=momentum)
    tuned = []
    for episode in episodes[:2]:
        with vision_student(zoo.plain, episode) as student:
            tune(student, alone._recipe(1.0), loss_on=lambda kept, e=episode: alone._loss(e.teacher, kept))
            tuned.append(zoo.plain.snapshot_vision())
        np.testing.assert_array_equal(method.adapt(episode).scores, alone.adapt(episode).scores)
    average = {k: 0.5 * (0.5 * own[k] + 0.5 * tuned[0][k]) + 0.5 * tuned[1][k] for k in own}
    start = momentum.start(zoo.plain)
    for name in own:
        torch.testing.assert_close(start[name], 0.5 * own[name] + 0.5 * average[name], atol=1e-6, rtol=0)
    moved, still = method.adapt(episodes[2]), alone.adapt(episodes[2])
    assert np.abs(moved.scores - still.scores).max() > 1e-4
    assert np.abs(moved.views.entropy - still.views.entropy).max() > 1e-4  # views are chosen by the moved tower
    assert state_bits(zoo.plain) == before
    Classifier(zoo.plain, labels=NAMES, method=method, teacher=teacher).reset()
    np.testing.assert_array_equal(method.adapt(episodes[2]).scores, still.scores)


@pytest.mark.parametrize("wrong", [{"decay": 1.5}, {"every": 0}, {"weight": -1}])
def test_momentum_refuses_what_makes_no_sense(wrong):
    with pytest.raises(UsageError, match="momentum needs decay and weight between 0 and 1"):
        VisionMomentum(**wrong)
