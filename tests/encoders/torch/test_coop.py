"""CoOp on a tiny real open_clip model, against a naive CLIP in numpy."""

import numpy as np
import pytest

pytest.importorskip("open_clip")

import torch

from tests.encoders.checkpoints.dassl_files import coop_state, save_dassl
from tests.encoders.torch.naive_clip import DIM, RESNET, TEXT, NaiveClip, random_views, save_tiny
from tests.encoders.torch.tiny_torch import write_hf_clip
from viewvote.encoders import Encoder, LoadOptions, load_encoder
from viewvote.encoders.checkpoints.prompts import coop_prompt
from viewvote.encoders.checkpoints.state_dict import open_state_dict
from viewvote.encoders.text_head import PromptedEncoder, build_text_head
from viewvote.encoders.torch.coop import CoOpEncoder
from viewvote.encoders.torch.learned_prompts import PromptLearner, split_checkpoint_id
from viewvote.encoders.torch.tunable import PromptTunable
from viewvote.errors import CheckpointError, ModelNotFoundError, UnsupportedEncoderError, UsageError

pytestmark = pytest.mark.torch

NAMES = ["cat", "golden_retriever", "Boeing 737-800, at night", "a"]
CPU = LoadOptions(device="cpu")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return save_tiny(tmp_path_factory.mktemp("clip") / "tiny")


@pytest.fixture(scope="module")
def plain(folder):
    return load_encoder(f"open_clip:local-dir:{folder}", CPU)


def put_on(plain, tmp_path, state):
    """The encoder without loading the model anew."""
    path = save_dassl(tmp_path / "model.pth.tar-50", state)
    widths = {"text_width": plain.text_width, "context_length": plain.context_length}
    return CoOpEncoder(plain, coop_prompt(open_state_dict(path), **widths), model_id=f"coop:{path}@{plain.model_id}")


def load_coop(tmp_path, folder, state, options=CPU):
    path = save_dassl(tmp_path / "nctx_cscFalse" / "prompt_learner" / "model.pth.tar-50", state)
    return load_encoder(f"coop:{path}@open_clip:local-dir:{folder}", options)


@pytest.mark.parametrize("n_ctx", [4, 16])
def test_class_features_are_those_of_the_naive_tower(tmp_path, folder, n_ctx):
    state = coop_state(n_ctx, width=TEXT)
    state["ctx"] *= 20
    got = load_coop(tmp_path, folder, state).encode_class_names(NAMES)
    naive = NaiveClip(folder)
    prefix = " ".join("X" * n_ctx)
    context = state["ctx"].double().numpy()
    expected = [naive.text(f"{prefix} {name.replace('_', ' ')}.", context) for name in NAMES]
    np.testing.assert_allclose(got, expected, atol=1e-5)
    assert got.dtype == np.float32
    without = [naive.text(f"{prefix} {name.replace('_', ' ')}.") for name in NAMES]
    assert np.abs(got - without).max() > 0.01  # the context matters


def test_the_embeddings_of_a_photo_of_a_give_the_plain_prompts(tmp_path, plain):
    words = plain.initial_context("a photo of a")
    assert words.shape == (4, TEXT)
    coop = put_on(plain, tmp_path, coop_state(4, width=TEXT) | {"ctx": words})
    expected = plain.encode_texts([f"a photo of a {name.replace('_', ' ')}." for name in NAMES])
    np.testing.assert_allclose(coop.encode_class_names(NAMES), expected, atol=1e-5)


def test_images_texts_and_the_scale_are_the_models_own(tmp_path, folder, plain):
    coop = load_coop(tmp_path, folder, coop_state(4, width=TEXT))
    views = random_views(3)
    np.testing.assert_array_equal(coop.encode_images(views), plain.encode_images(views))
    np.testing.assert_array_equal(coop.encode_texts(["a cat"]), plain.encode_texts(["a cat"]))
    np.testing.assert_array_equal(coop.image_features(views).numpy(), plain.image_features(views).numpy())
    own = ("image_spec", "dim", "logit_scale", "logit_bias", "scoring", "device", "context_length", "text_width")
    for name in own:
        assert getattr(coop, name) == getattr(plain, name)


def test_it_is_an_encoder_that_owns_its_prompt_and_can_be_tuned(tmp_path, plain):
    coop = put_on(plain, tmp_path, coop_state(4, width=TEXT))
    assert isinstance(coop, CoOpEncoder)
    assert isinstance(coop, Encoder)
    assert isinstance(coop, PromptTunable)
    assert isinstance(coop, PromptedEncoder)
    assert not isinstance(coop, PromptLearner)
    assert not isinstance(plain, PromptedEncoder)


def test_a_text_head_takes_the_learned_prompt_and_no_template(tmp_path, plain):
    coop = put_on(plain, tmp_path, coop_state(4, width=TEXT))
    head = build_text_head(coop, NAMES, templates=["a drawing of {}."], cache_dir=tmp_path)
    again = build_text_head(coop, NAMES, templates=["a drawing of {}."], cache_dir=tmp_path)
    np.testing.assert_allclose(head.features, coop.encode_class_names(NAMES), atol=1e-6)
    assert (head.cached, again.cached) == (False, True)


def test_tuning_starts_from_the_learned_context_and_leaves_it_alone(tmp_path, plain):
    state = coop_state(4, width=TEXT)
    coop = put_on(plain, tmp_path, state)
    context = coop.initial_context("a photo of a").requires_grad_()
    np.testing.assert_array_equal(context.detach().numpy(), state["ctx"].float().numpy())
    features = coop.text_features_from_context(context, NAMES)
    np.testing.assert_allclose(features.detach().numpy(), coop.encode_class_names(NAMES), atol=1e-6)
    before = coop.encode_class_names(NAMES)
    features.sum().backward()
    with torch.no_grad():
        context -= context.grad.sign()
    assert context.grad.abs().max() > 0
    np.testing.assert_array_equal(coop.encode_class_names(NAMES), before)


def test_the_number_of_names_changes_no_feature(tmp_path, plain):
    coop = put_on(plain, tmp_path, coop_state(16, width=TEXT))
    many = coop.encode_class_names([*NAMES, *(f"thing {i}" for i in range(300))])
    assert many.shape == (304, DIM)
    np.testing.assert_allclose(many[:4], coop.encode_class_names(NAMES), atol=1e-6)
    assert coop.encode_class_names([]).shape == (0, DIM)


def test_the_fingerprint_tells_contexts_and_the_plain_model_apart(tmp_path, folder, plain):
    first = put_on(plain, tmp_path / "1", coop_state(4, width=TEXT, seed=1))
    second = put_on(plain, tmp_path / "2", coop_state(4, width=TEXT, seed=2))
    again = put_on(plain, tmp_path / "3", coop_state(4, width=TEXT, seed=1))
    assert len({first.fingerprint, second.fingerprint, plain.fingerprint}) == 3
    assert first.fingerprint == again.fingerprint
    assert first.model_id.startswith("coop:")
    assert first.model_id.endswith(f"model.pth.tar-50@open_clip:local-dir:{folder}")


@pytest.mark.parametrize("dtype", ["fp16", "bf16"])
def test_half_precision_stays_close(tmp_path, folder, dtype):
    state = coop_state(4, width=TEXT)
    exact = load_coop(tmp_path, folder, state).encode_class_names(NAMES)
    half = load_coop(tmp_path, folder, state, LoadOptions(device="cpu", dtype=dtype)).encode_class_names(NAMES)
    assert half.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(half, axis=1), 1, atol=1e-6)
    assert (half * exact).sum(axis=1).min() > 0.995


def test_a_checkpoint_for_another_width_is_refused(tmp_path, folder):
    with pytest.raises(CheckpointError, match=r"shape \(4, 512\); expected \(M, 16\)"):
        load_coop(tmp_path, folder, coop_state(4, width=512))


def test_a_missing_checkpoint_is_told_before_the_model_is_looked_for():
    with pytest.raises(ModelNotFoundError, match="no checkpoint at nowhere"):
        load_encoder("coop:nowhere@open_clip:local-dir:nowhere-either", CPU)


def test_a_model_without_a_text_transformer_is_refused(tmp_path):
    path = save_dassl(tmp_path / "f", coop_state(4, width=TEXT))
    with pytest.raises(UnsupportedEncoderError, match="'toy'"):
        load_encoder(f"coop:{path}@toy", CPU)


def test_a_transformers_clip_takes_coop(tmp_path):
    write_hf_clip(tmp_path / "hf")
    plain = load_encoder(f"hf:{tmp_path / 'hf'}", CPU)
    state = coop_state(4, width=plain.text_width) | {"ctx": plain.initial_context("a photo of a")}
    path = save_dassl(tmp_path / "ctx", state)
    coop = load_encoder(f"coop:{path}@hf:{tmp_path / 'hf'}", CPU)
    expected = plain.encode_texts([f"a photo of a {name.replace('_', ' ')}." for name in NAMES])
    np.testing.assert_allclose(coop.encode_class_names(NAMES), expected, atol=1e-5)


def test_a_resnet_takes_coop(tmp_path):
    resnet = load_coop(tmp_path, save_tiny(tmp_path / "rn", RESNET), coop_state(4, width=TEXT))
    assert resnet.encode_class_names(NAMES).shape == (4, DIM)


@pytest.mark.parametrize(
    ("rest", "path", "model_id"),
    [
        ("ctx.pth.tar-50@open_clip:ViT-B-16/openai", "ctx.pth.tar-50", "open_clip:ViT-B-16/openai"),
        ("me@home/ctx@hf:openai/clip-vit-base-patch16", "me@home/ctx", "hf:openai/clip-vit-base-patch16"),
        ("a@toy/ctx@hf:org/repo@main", "a@toy/ctx", "hf:org/repo@main"),
        ("a@hf:b@open_clip:RN50/openai", "a@hf:b", "open_clip:RN50/openai"),
        ("ctx@toy", "ctx", "toy"),
    ],
)
def test_an_id_splits_at_the_last_at_sign_before_a_scheme(rest, path, model_id):
    found, model = split_checkpoint_id(rest, scheme="coop")
    assert (str(found), model) == (path, model_id)


@pytest.mark.parametrize("rest", ["ctx.pth", "ctx@ViT-B-16/openai", "@open_clip:ViT-B-16/openai", "ctx@"])
def test_an_id_without_both_parts_is_refused(rest):
    with pytest.raises(UsageError, match="expected coop:CHECKPOINT@MODEL"):
        split_checkpoint_id(rest, scheme="coop")


def test_prompts_on_prompts_are_refused():
    with pytest.raises(UsageError, match="prompts on prompts"):
        split_checkpoint_id("ctx@maple:other", scheme="coop")
