"""PromptAlign against its description over a naive MaPLe in float64."""

import numpy as np
import pytest

pytest.importorskip("open_clip")

import torch

from tests.encoders.torch.naive_clip import BLOCKS, VISION, random_views
from tests.methods.tuning.tuning_cases import (
    NAMES,
    TOKENS,
    Zoo,
    episode_on,
    is_frozen,
    naive_entropy,
    naive_kept,
    naive_softmax,
    poisoned,
    probes,
    random_statistics,
    recorded,
    sign_step,
    slope,
    state_bits,
)
from viewvote.classify.classifier import Classifier
from viewvote.errors import CheckpointError, ModelNotFoundError, UnknownNameError, UnsupportedEncoderError, UsageError
from viewvote.methods import METHODS
from viewvote.methods.tuning.promptalign import PromptAlign, alignment
from viewvote.methods.tuning.steps import tune
from viewvote.methods.tuning.students import prompt_student
from viewvote.methods.tuning.token_statistics import TokenStatistics
from viewvote.methods.tuning.tpt import Tpt

pytestmark = pytest.mark.torch


@pytest.fixture(scope="module")
def zoo(tmp_path_factory):
    return Zoo(tmp_path_factory.mktemp("zoo"))


def naive_alignment(inputs, statistics, compat):
    """inputs[view][block] (tokens, width), in the words of the specification."""
    total = 0.0
    for b in range(2 if compat == "code" else 3):
        x = np.array([view[b] for view in inputs])
        mu = x.sum(axis=0) / len(x)
        var = ((x - mu) ** 2).sum(axis=0) / len(x)
        apart = [np.abs(mu - statistics.means[b]), np.abs(var - statistics.variances[b])]
        if compat == "code":
            total += sum(0.5 * d.sum() / (TOKENS * VISION) for d in apart)
        else:
            total += sum(d.sum() for d in apart)
    return total


def naive_loss(zoo, episode, kept, statistics, compat, **changes):
    """Entropy plus alignment of a MaPLe whose parameters are those of the checkpoint but for `changes`."""
    p = {k.removeprefix("prompt_learner."): v.double().numpy() for k, v in zoo.maple_state.items()} | changes
    deep = [p["compound_prompts_text.0"], p["compound_prompts_text.1"]]
    text = np.array([zoo.naive.text(f"a photo of a {n.replace('_', ' ')}.", p["ctx"], deep) for n in NAMES])
    prompts = p["ctx"] @ p["proj.weight"].T + p["proj.bias"]
    projected = [
        rows @ p[f"compound_prompt_projections.{i}.weight"].T + p[f"compound_prompt_projections.{i}.bias"]
        for i, rows in enumerate(deep)
    ]
    seen = [zoo.naive.image(view, prompts, projected) for view in episode.pixels[kept]]
    logits = zoo.maple.logit_scale * np.array([feature for feature, _ in seen]) @ text.T
    entropy = naive_entropy(naive_softmax(logits).mean(axis=0))
    return float(entropy + 100 / 3 * naive_alignment([inputs for _, inputs in seen], statistics, compat))


def test_the_defaults_are_the_authors():
    method = PromptAlign()
    assert (method.keep, method.lr, method.weight_decay, method.steps) == (0.1, 4e-2, 0.01, 1)
    assert (method.align_weight, method.layers, method.compat) == (100, 3, "code")
    assert (method._blocks, PromptAlign(compat="paper")._blocks) == (2, 3)  # the off-by-one of the code
    assert METHODS.get("promptalign") is PromptAlign


def test_alignment_by_hand():
    taps = (torch.tensor([[[1.0, 2.0]], [[3.0, 2.0]]]),)  # two views, one token: means 2, 2; variances 1, 0
    means, variances = torch.tensor([[[0.0, 2.5]]]), torch.tensor([[[1.0, 2.0]]])
    assert alignment(taps, means, variances, compat="code").item() == pytest.approx(0.5 * 1.25 + 0.5 * 1.0)
    assert alignment(taps, means, variances, compat="paper").item() == pytest.approx(2.5 + 2.0)


@pytest.mark.parametrize("compat", ["code", "paper"])
def test_loss_gradient_and_step_are_those_of_the_naive_model(zoo, compat):
    episode, statistics, seen = episode_on(zoo.maple, n_views=6), random_statistics(), []
    method = PromptAlign(statistics, compat=compat, keep=0.5)
    kept = naive_kept(episode.logits, 0.5)
    sources = [torch.tensor(rows[: method._blocks]) for rows in (statistics.means, statistics.variances)]
    with prompt_student(zoo.maple, episode, chunk=2) as student:
        names = list(zoo.maple.prompt_parameters())
        before = [p.detach().numpy().astype(np.float64) for p in student.parameters]
        tune(student, method._recipe(), loss_on=recorded(lambda kept: method._loss(kept, *sources), seen))
        after = [p.detach().numpy().copy() for p in student.parameters]
        gradients = [p.grad.numpy().astype(np.float64) for p in student.parameters]
    assert seen[0] == pytest.approx(naive_loss(zoo, episode, kept, statistics, compat), rel=1e-5)
    own = dict(zip(names, zip(before, gradients, strict=True), strict=True))
    for name in ("ctx", "compound_prompts_text.0", "compound_prompt_projections.1.weight"):
        start, gradient = own[name]
        (direction,) = probes(start.shape, 1)
        expected = slope(
            lambda values, name=name: naive_loss(zoo, episode, kept, statistics, compat, **{name: values}),
            start,
            direction,
            size=1e-6,
        )
        assert np.sum(gradient * direction) == pytest.approx(expected, rel=5e-3, abs=1e-5), name
    for old, new, gradient in zip(before, after, gradients, strict=True):
        np.testing.assert_allclose(new, sign_step(old, gradient, lr=4e-2, weight_decay=0.01), atol=2e-6)


def test_the_code_never_aligns_the_last_layers_prompts_and_the_paper_does(zoo):
    episode, statistics = episode_on(zoo.maple, n_views=6), random_statistics()

    def gradient(compat):
        """Of the prompts inserted at block 2, from the alignment alone."""
        method = PromptAlign(statistics, compat=compat)
        sources = [torch.tensor(rows[: method._blocks]) for rows in (statistics.means, statistics.variances)]
        with prompt_student(zoo.maple, episode, chunk=64):
            _, taps = zoo.maple.view_features(episode.pixels[:2], taps=method._blocks)
            parameter = zoo.maple.prompt_parameters()["compound_prompts_text.1"]
            total = alignment(taps, *sources, compat=compat)
            return torch.autograd.grad(total, parameter, allow_unused=True)[0]

    assert gradient("code") is None
    assert gradient("paper").abs().max() > 0


def test_without_weight_it_is_tpt_on_maple(zoo):
    episode = episode_on(zoo.maple)
    aligned = PromptAlign(random_statistics(), keep=0.5, align_weight=0.0).adapt(episode)
    np.testing.assert_allclose(aligned.scores, Tpt(keep=0.5).adapt(episode).scores, atol=1e-5)
    assert np.abs(PromptAlign(random_statistics(), keep=0.5).adapt(episode).scores - aligned.scores).max() > 1e-3


def test_everything_is_put_back_bit_for_bit_also_after_an_error(zoo, monkeypatch):
    episode, method, before = episode_on(zoo.maple), PromptAlign(random_statistics(), steps=2), state_bits(zoo.maple)
    method.adapt(episode)
    assert state_bits(zoo.maple) == before
    assert is_frozen(zoo.maple)
    step = torch.optim.AdamW.step

    def fails(optimizer):
        step(optimizer)
        raise RuntimeError("out of memory")

    monkeypatch.setattr(torch.optim.AdamW, "step", fails)
    with pytest.raises(RuntimeError, match="out of memory"):
        method.adapt(episode)
    assert state_bits(zoo.maple) == before
    assert is_frozen(zoo.maple)


def test_an_answer_does_not_depend_on_the_images_before_it(zoo):
    method = PromptAlign(random_statistics(), keep=0.5)
    first, second = (episode_on(zoo.maple, seed=seed) for seed in (1, 2))
    forth = [method.adapt(one).scores for one in (first, second)]
    back = [method.adapt(one).scores for one in (second, first)]
    np.testing.assert_array_equal(forth, back[::-1])


def test_a_gradient_that_is_not_finite_skips_the_step_and_says_so(zoo, monkeypatch):
    episode = episode_on(zoo.maple)
    monkeypatch.setattr(zoo.maple, "view_features", poisoned(zoo.maple.view_features))
    decision = PromptAlign(random_statistics()).adapt(episode)
    assert decision.notes == ("step 1 of 1 skipped: non-finite gradient",)
    np.testing.assert_allclose(decision.scores, naive_softmax(episode.logits[0]), atol=2e-6)


def test_p_bar_is_recorded(zoo):
    episode = episode_on(zoo.maple)
    decision = PromptAlign(random_statistics(), keep=0.5, record_marginal=True).adapt(episode)
    expected = naive_softmax(episode.logits[naive_kept(episode.logits, 0.5)]).mean(axis=0)
    np.testing.assert_allclose(decision.marginal_before, expected, atol=2e-6)
    assert decision.marginal_after.sum() == pytest.approx(1, abs=1e-5)


def test_what_it_needs_is_said_before_any_image(zoo, tmp_path):
    def classifier(method, encoder=zoo.maple):
        return Classifier(encoder, labels=NAMES, method=method, n_views=4)

    with pytest.raises(UnsupportedEncoderError, match="tunes the prompts of a MaPLe model"):
        classifier(PromptAlign(random_statistics()), zoo.plain)
    with pytest.raises(UsageError, match="its setting statistics is a file"):
        classifier("promptalign")
    with pytest.raises(UnknownNameError, match="no compat 'papers'"):
        classifier(PromptAlign(random_statistics(), compat="papers"))
    with pytest.raises(UsageError, match="layers must be at least 1"):
        classifier(PromptAlign(random_statistics(), layers=0))
    with pytest.raises(CheckpointError, match=rf"expected \(blocks, {TOKENS}, {VISION}\) with 2 to {BLOCKS} blocks"):
        classifier(PromptAlign(TokenStatistics(np.zeros((12, 199, 768)), np.zeros((12, 199, 768)))))
    with pytest.raises(CheckpointError, match="with 3 to"):
        classifier(PromptAlign(random_statistics(blocks=2), compat="paper"))
    with pytest.raises(ModelNotFoundError, match="no checkpoint at"):
        classifier(PromptAlign(tmp_path / "nothing.safetensors"))
    prediction = classifier(PromptAlign(random_statistics(blocks=2)))(random_views(1)[0])
    assert prediction.method == "promptalign"
