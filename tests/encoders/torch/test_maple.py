"""MaPLe on a tiny real open_clip model, against a naive MaPLe in numpy."""

import numpy as np
import pytest

pytest.importorskip("open_clip")

import torch
from safetensors.torch import load_file, save_file

from tests.encoders.checkpoints.dassl_files import coop_state, maple_state, save_dassl
from tests.encoders.torch.naive_clip import BLOCKS, DIM, RESNET, TEXT, VISION, NaiveClip, random_views, save_tiny
from tests.encoders.torch.tiny_torch import write_hf_clip
from viewvote.encoders import Encoder, LoadOptions, load_encoder
from viewvote.encoders.checkpoints.prompts import maple_prompts
from viewvote.encoders.checkpoints.state_dict import open_state_dict
from viewvote.encoders.text_head import PromptedEncoder
from viewvote.encoders.torch.learned_prompts import PromptLearner
from viewvote.encoders.torch.maple import MaPLeEncoder
from viewvote.errors import CheckpointError, UnsupportedEncoderError

pytestmark = pytest.mark.torch

NAMES = ["cat", "golden_retriever", "Boeing 737-800, at night"]
CPU = LoadOptions(device="cpu")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return save_tiny(tmp_path_factory.mktemp("clip") / "tiny")


@pytest.fixture(scope="module")
def plain(folder):
    return load_encoder(f"open_clip:local-dir:{folder}", CPU)


def put_on(plain, tmp_path, state):
    """The encoder without loading the model anew."""
    path = save_dassl(tmp_path / "model.pth.tar-2", state, epoch=2)
    widths = {"text_width": TEXT, "vision_width": VISION, "context_length": 77, "blocks": BLOCKS}
    return MaPLeEncoder(
        plain, maple_prompts(open_state_dict(path), **widths), model_id=f"maple:{path}@{plain.model_id}"
    )


def load_maple(tmp_path, folder, state, options=CPU):
    path = save_dassl(tmp_path / "seed1" / "MultiModalPromptLearner" / "model.pth.tar-2", state, epoch=2)
    return load_encoder(f"maple:{path}@open_clip:local-dir:{folder}", options)


class NaiveMaPLe:
    """The description of MaPLe, step by step, over the naive CLIP."""

    def __init__(self, folder, state):
        self.clip = NaiveClip(folder)
        learned = {k.removeprefix("prompt_learner."): v for k, v in state.items() if k.startswith("prompt_learner.")}
        self.p = {name: value.double().numpy() for name, value in learned.items() if "token_" not in name}
        self.compound = [k for k in sorted(self.p) if k.startswith("compound_prompts_text.")]

    def text(self, name):
        ctx = self.p["ctx"]
        words = "a photo of a" if len(ctx) <= 4 else " ".join(["X"] * len(ctx))
        deep = [self.p[k] for k in self.compound]
        return self.clip.text(f"{words} {name.replace('_', ' ')}.", ctx, deep)

    def image(self, view):
        first = np.array([self.p["proj.weight"] @ row + self.p["proj.bias"] for row in self.p["ctx"]])
        deep = []
        for i, key in enumerate(self.compound):
            weight = self.p[f"compound_prompt_projections.{i}.weight"]
            bias = self.p[f"compound_prompt_projections.{i}.bias"]
            deep.append(np.array([weight @ row + bias for row in self.p[key]]))
        return self.clip.image(view, first, deep)


def state_of(depth, *, n_ctx=2, seed=0):
    return maple_state(depth, text_width=TEXT, vision_width=VISION, n_ctx=n_ctx, seed=seed)


@pytest.mark.parametrize(("depth", "n_ctx"), [(1, 2), (3, 2), (9, 2), (BLOCKS, 4), (3, 5)])
def test_both_towers_are_the_naive_ones(tmp_path, folder, depth, n_ctx):
    state = state_of(depth, n_ctx=n_ctx)
    maple = load_maple(tmp_path, folder, state)
    naive = NaiveMaPLe(folder, state)
    views = random_views(3)
    np.testing.assert_allclose(maple.encode_class_names(NAMES), [naive.text(name) for name in NAMES], atol=1e-5)
    np.testing.assert_allclose(maple.encode_images(views), [naive.image(view)[0] for view in views], atol=1e-5)


def test_every_learned_tensor_matters_to_the_tower_it_is_for(tmp_path, plain):
    maple = put_on(plain, tmp_path, state_of(3))
    views, texts, images = random_views(2), maple.encode_class_names(NAMES), maple.encode_images(random_views(2))
    for name, parameter in maple.prompt_parameters().items():
        with torch.no_grad():
            parameter += 0.5 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(3))
        moved = np.abs(maple.encode_class_names(NAMES) - texts).max(), np.abs(maple.encode_images(views) - images).max()
        assert (moved[0] > 1e-4) == ("proj" not in name), name
        assert moved[1] > 1e-4, name
        maple.restore_prompts()


def test_the_block_inputs_are_those_the_blocks_see(tmp_path, folder, plain):
    state = state_of(3)
    maple = put_on(plain, tmp_path, state)
    naive = NaiveMaPLe(folder, state)
    views = random_views(2)
    features, inputs = maple.view_features(views, taps=4)
    tokens = 1 + 4 + 2
    assert [tuple(x.shape) for x in inputs] == [(2, tokens, VISION)] * 4
    for v, view in enumerate(views):
        feature, expected = naive.image(view)
        np.testing.assert_allclose(features[v].detach().numpy(), feature, atol=1e-5)
        for b in range(4):
            np.testing.assert_allclose(inputs[b][v].detach().numpy(), expected[b], atol=2e-4)
    compound = state["prompt_learner.compound_prompts_text.0"]
    weight = state["prompt_learner.compound_prompt_projections.0.weight"]
    bias = state["prompt_learner.compound_prompt_projections.0.bias"]
    np.testing.assert_allclose(inputs[1][0, -2:].detach(), compound @ weight.T + bias, atol=1e-5)  # block 1, by hand
    assert maple.view_features(views)[1] == ()


def test_gradients_are_the_naive_models_finite_differences(tmp_path, folder, plain):
    state = state_of(3)
    maple = put_on(plain, tmp_path, state)
    naive = NaiveMaPLe(folder, state)
    view = random_views(1)
    rng = np.random.default_rng(5)
    on_text, on_image, on_block = rng.normal(size=(2, DIM)), rng.normal(size=DIM), rng.normal(size=(7, VISION))

    def naive_loss():
        feature, inputs = naive.image(view[0])
        texts = sum(weights @ naive.text(name) for weights, name in zip(on_text, NAMES[:2], strict=True))
        return texts + on_image @ feature + 0.01 * np.sum(on_block * inputs[1])

    for parameter in maple.prompt_parameters().values():
        parameter.requires_grad_()
    texts = maple.class_features(NAMES[:2], chunk=1)
    features, inputs = maple.view_features(view, taps=2)
    loss = (torch.tensor(on_text) * texts).sum() + (torch.tensor(on_image) * features[0]).sum()
    loss = loss + 0.01 * (torch.tensor(on_block) * inputs[1][0]).sum()
    assert loss.item() == pytest.approx(naive_loss(), abs=1e-4)
    loss.backward()
    for name, parameter in maple.prompt_parameters().items():
        place = tuple(int(rng.integers(n)) for n in parameter.shape)
        values, step = naive.p[name], 1e-5
        centre = values[place]
        values[place] = centre + step
        above = naive_loss()
        values[place] = centre - step
        slope = (above - naive_loss()) / (2 * step)
        values[place] = centre
        assert parameter.grad[place].item() == pytest.approx(slope, rel=2e-3, abs=2e-5), name


def test_the_size_of_chunks_changes_neither_features_nor_gradients(tmp_path, plain):
    maple = put_on(plain, tmp_path, state_of(3))
    ctx = maple.prompt_parameters()["ctx"].requires_grad_()
    results = []
    for chunk in (1, 2, 64):
        ctx.grad = None
        features = maple.class_features(NAMES, chunk=chunk)
        (features * torch.arange(DIM)).sum().backward()
        results.append((features.detach().numpy(), ctx.grad.numpy().copy()))
    for features, gradient in results[1:]:
        np.testing.assert_allclose(features, results[0][0], atol=1e-6)
        np.testing.assert_allclose(gradient, results[0][1], rtol=1e-4, atol=1e-5)


def test_a_context_of_a_photo_at_depth_1_gives_the_plain_prompts(tmp_path, plain):
    maple = put_on(plain, tmp_path, state_of(1) | {"prompt_learner.ctx": plain.initial_context("a photo")})
    expected = plain.encode_texts([f"a photo of a {name.replace('_', ' ')}." for name in NAMES])
    np.testing.assert_allclose(maple.encode_class_names(NAMES), expected, atol=1e-5)
    np.testing.assert_array_equal(maple.encode_texts(["a cat"]), plain.encode_texts(["a cat"]))


def test_prompts_that_nobody_attends_to_change_no_image(tmp_path):
    deaf = save_tiny(tmp_path / "deaf")
    weights = load_file(deaf / "open_clip_model.safetensors")
    for name in weights:
        if name.startswith("visual.") and name.endswith("attn.out_proj.weight"):
            weights[name] = torch.zeros_like(weights[name])
    save_file(weights, deaf / "open_clip_model.safetensors")
    views = random_views(3)
    expected = load_encoder(f"open_clip:local-dir:{deaf}", CPU).encode_images(views)
    np.testing.assert_allclose(load_maple(tmp_path, deaf, state_of(3)).encode_images(views), expected, atol=1e-6)


def test_a_tuned_prompt_is_put_back_bit_for_bit(tmp_path, plain):
    maple = put_on(plain, tmp_path, state_of(3))
    views = random_views(2)
    before = maple.encode_class_names(NAMES), maple.encode_images(views)
    snapshot = maple.snapshot_prompts()
    parameters = maple.prompt_parameters()
    assert not any(parameter.requires_grad for parameter in parameters.values())
    for put_back in (lambda: maple.restore_prompts(snapshot), maple.restore_prompts):
        tuned = [parameter.requires_grad_() for parameter in parameters.values()]
        optimizer = torch.optim.AdamW(tuned, lr=0.04)
        logits = maple.view_features(views)[0] @ maple.class_features(NAMES).T
        torch.logsumexp(logits, dim=1).sum().backward()
        assert all(parameter.grad is not None and parameter.grad.abs().max() > 0 for parameter in tuned)
        optimizer.step()
        assert np.abs(maple.encode_class_names(NAMES) - before[0]).max() > 1e-3
        assert np.abs(maple.encode_images(views) - before[1]).max() > 1e-3
        put_back()
        np.testing.assert_array_equal(maple.encode_class_names(NAMES), before[0])
        np.testing.assert_array_equal(maple.encode_images(views), before[1])
        assert not any(parameter.requires_grad or parameter.grad is not None for parameter in parameters.values())


def test_features_without_gradients_are_the_same_and_batched(tmp_path, plain):
    maple = put_on(plain, tmp_path, state_of(3))
    maple.prompt_parameters()["ctx"].requires_grad_()
    views = random_views(70)
    features = maple.image_features(views)
    assert features.shape == (70, DIM)
    assert not features.requires_grad
    assert maple.view_features(views[:1])[0].requires_grad
    np.testing.assert_allclose(maple.view_features(views[66:])[0].detach().numpy(), features[66:].numpy(), atol=1e-6)
    assert maple.encode_images(views[:0]).shape == (0, DIM)
    assert maple.encode_class_names([]).shape == (0, DIM)


def test_it_is_an_encoder_that_learned_its_prompts(tmp_path, plain):
    maple = put_on(plain, tmp_path, state_of(3))
    assert isinstance(maple, Encoder)
    assert isinstance(maple, PromptedEncoder)
    assert isinstance(maple, PromptLearner)
    assert (maple.n_ctx, maple.depth) == (2, 3)
    assert len(maple.prompt_parameters()) == 9
    other = put_on(plain, tmp_path / "other", state_of(3, seed=1))
    assert len({maple.fingerprint, other.fingerprint, plain.fingerprint}) == 3
    assert maple.logit_scale == plain.logit_scale


@pytest.mark.parametrize("dtype", ["fp16", "bf16"])
def test_half_precision_stays_close(tmp_path, folder, dtype):
    exact = load_maple(tmp_path, folder, state_of(3))
    half = load_maple(tmp_path, folder, state_of(3), LoadOptions(device="cpu", dtype=dtype))
    views = random_views(4)
    assert (half.encode_images(views) * exact.encode_images(views)).sum(axis=1).min() > 0.99
    assert (half.encode_class_names(NAMES) * exact.encode_class_names(NAMES)).sum(axis=1).min() > 0.99
    assert half.encode_images(views).dtype == np.float32


def test_a_transformers_clip_takes_maple(tmp_path):
    write_hf_clip(tmp_path / "hf")
    plain = load_encoder(f"hf:{tmp_path / 'hf'}", CPU)
    state = maple_state(1, text_width=plain.text_width, vision_width=plain.vision_width)
    state["prompt_learner.ctx"] = plain.initial_context("a photo")
    maple = load_encoder(f"maple:{save_dassl(tmp_path / 'f', state)}@hf:{tmp_path / 'hf'}", CPU)
    expected = plain.encode_texts([f"a photo of a {name.replace('_', ' ')}." for name in NAMES])
    np.testing.assert_allclose(maple.encode_class_names(NAMES), expected, atol=1e-5)
    views = np.random.default_rng(0).integers(0, 256, (2, 32, 32, 3), dtype=np.uint8)
    assert np.abs(maple.encode_images(views) - plain.encode_images(views)).max() > 1e-4


def test_a_checkpoint_deeper_than_the_towers_is_refused(tmp_path, folder):
    with pytest.raises(CheckpointError, match=rf"depth {BLOCKS + 1}\); expected at most {BLOCKS}"):
        load_maple(tmp_path, folder, state_of(BLOCKS + 1))


def test_a_checkpoint_of_coop_is_refused(tmp_path, folder):
    with pytest.raises(CheckpointError, match="use coop:"):
        load_maple(tmp_path, folder, coop_state(4, width=TEXT))


def test_a_model_without_a_vision_transformer_is_refused(tmp_path):
    with pytest.raises(UnsupportedEncoderError, match="MaPLe puts prompts into the blocks of both towers"):
        load_maple(tmp_path, save_tiny(tmp_path / "rn", RESNET), state_of(3))
