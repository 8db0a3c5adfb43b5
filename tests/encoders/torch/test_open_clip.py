import numpy as np
import pytest

torch = pytest.importorskip("torch")
open_clip = pytest.importorskip("open_clip")

from tests.encoders.torch.tiny_torch import (  # noqa: E402
    NAMES,
    TEXT,
    VISION,
    naive_source_view,
    picture,
    source_view,
    write_open_clip,
    write_siglip_tokenizer,
)
from viewvote import Classifier  # noqa: E402
from viewvote.encoders import Encoder, LoadOptions, load_encoder  # noqa: E402
from viewvote.encoders.text_head import build_text_head, encode_classes  # noqa: E402
from viewvote.encoders.torch.tunable import DeepPromptTunable, PromptTunable, VisionTunable  # noqa: E402
from viewvote.errors import UnsupportedEncoderError  # noqa: E402

pytestmark = pytest.mark.torch
CPU = LoadOptions(device="cpu")
TEMPLATES = ("a photo of a {}.", "art of the {}.")
RESNET = {"image_size": 32, "layers": [1, 1, 1, 1], "width": 8, "head_width": 64}
SIGLIP = {
    "embed_dim": 24,
    "custom_text": True,
    "init_logit_bias": -10,
    "vision_cfg": {"image_size": 64, "timm_model_name": "test_vit", "timm_pool": "avg", "timm_proj": "linear"},
    "text_cfg": {
        "context_length": 64,
        "vocab_size": 32,
        "hf_tokenizer_name": "in-the-folder",
        "tokenizer_kwargs": {"clean": "canonicalize"},
        "width": 24,
        "heads": 2,
        "layers": 2,
        "no_causal_mask": True,
        "proj_bias": True,
        "pool_type": "last",
    },
}
COCA = {
    "custom_text": True,
    "vision_cfg": VISION | {"attentional_pool": True, "attn_pooler_heads": 2, "output_tokens": True},
    "text_cfg": TEXT | {"context_length": 76, "embed_cls": True, "output_tokens": True},
    "multimodal_cfg": {"context_length": 76, "width": 24, "heads": 2, "layers": 1},
}
KINDS = {
    "coca": COCA,
    "clip": {},
    "quickgelu": {"quick_gelu": True},
    "custom-text": {"custom_text": True},
    "resnet": {"vision_cfg": RESNET},
    "siglip": SIGLIP,
}
SQUASH = {"mean": [0.5] * 3, "std": [0.5] * 3, "interpolation": "bilinear", "resize_mode": "squash"}


@pytest.fixture(scope="module", params=KINDS)
def kind(request):
    return request.param


@pytest.fixture(scope="module")
def folder(kind, tmp_path_factory):
    folder = write_open_clip(
        tmp_path_factory.mktemp(kind), preprocess=SQUASH if kind == "siglip" else None, **KINDS[kind]
    )
    if kind == "siglip":
        write_siglip_tokenizer(folder)
    return folder


@pytest.fixture(scope="module")
def encoder(folder):
    return load_encoder(f"open_clip:local-dir:{folder}", CPU)


@pytest.fixture(scope="module")
def theirs(folder):
    """open_clip's own model, preprocessing and tokenizer."""
    name = f"local-dir:{folder}"
    model, _, preprocess = open_clip.create_model_and_transforms(name)
    return model.eval(), preprocess, open_clip.get_tokenizer(name)


def test_text_head_is_open_clips_zero_shot_classifier(encoder, theirs):
    model, _, tokenizer = theirs
    names = [name.replace("_", " ") for name in NAMES]
    expected = open_clip.build_zero_shot_classifier(model, tokenizer, names, TEMPLATES)
    ours = encode_classes(encoder, NAMES, templates=TEMPLATES)
    assert ours.shape == (len(NAMES), encoder.dim)
    np.testing.assert_allclose(ours, expected.T.numpy(), atol=2e-6)


@pytest.mark.parametrize(("draw", "atol"), [(naive_source_view, 2e-4), (source_view, 0.02)])
@pytest.mark.parametrize("size", [(60, 44), (44, 60), (32, 32), (33, 200)])
def test_scores_of_an_image_are_open_clips_own(encoder, theirs, size, draw, atol):
    # The package draws the source view in one step, so a few pixels round to the neighbouring grey level.
    model, preprocess, tokenizer = theirs
    image, texts = picture(*size), [f"a photo of a {name}." for name in NAMES]
    with torch.no_grad():
        images = model.encode_image(preprocess(image)[None], normalize=True)
        expected = model.logit_scale.exp() * images @ model.encode_text(tokenizer(texts), normalize=True).T
        expected += 0 if model.logit_bias is None else model.logit_bias
    cosines = encoder.encode_images(draw(image, encoder.image_spec)) @ encoder.encode_texts(texts).T
    ours = encoder.logit_scale * cosines + encoder.logit_bias
    np.testing.assert_allclose(ours, expected.numpy(), atol=atol)


def test_a_text_beyond_the_context_is_cut_as_open_clip_cuts_it(encoder, theirs):
    model, _, tokenizer = theirs
    text = "a photo of a cat and the dog " * 30
    with torch.no_grad():
        expected = model.encode_text(tokenizer([text, "cat"]), normalize=True)
    np.testing.assert_allclose(encoder.encode_texts([text, "cat"]), expected.numpy(), atol=2e-6)


@pytest.mark.parametrize("dtype", ["bf16", "fp16"])
def test_half_precision_changes_no_prediction_on_separated_inputs(folder, encoder, dtype):
    half = load_encoder(f"open_clip:local-dir:{folder}", LoadOptions(device="cpu", dtype=dtype))
    views = np.concatenate([source_view(picture(seed=seed), encoder.image_spec) for seed in range(24)])
    texts = [f"a photo of a {name}." for name in NAMES]
    full, rough = (e.encode_images(views) @ e.encode_texts(texts).T for e in (encoder, half))
    best = np.sort(full, axis=1)
    separated = best[:, -1] - best[:, -2] > 0.02
    assert separated.sum() >= 3
    assert (full.argmax(axis=1) == rough.argmax(axis=1))[separated].all()
    np.testing.assert_allclose(rough, full, atol=0.02)
    assert (half.logit_scale, half.logit_bias) == (encoder.logit_scale, encoder.logit_bias)


def test_abilities_follow_the_towers(kind, encoder):
    assert isinstance(encoder, Encoder)
    assert isinstance(encoder, VisionTunable)
    assert isinstance(encoder, PromptTunable) == (kind not in {"siglip", "coca"})
    assert isinstance(encoder, DeepPromptTunable) == (kind in {"clip", "quickgelu", "custom-text"})


def test_clip_is_scored_by_softmax_and_siglip_by_sigmoid_with_its_bias(kind, encoder):
    scale = 1 / 0.07  # both upstreams start here
    assert encoder.logit_scale == pytest.approx(scale, rel=1e-6)
    clip = ("softmax", 0.0, 76 if kind == "coca" else 77)
    expected = ("sigmoid", -10.0, 64) if kind == "siglip" else clip
    assert (encoder.scoring, encoder.logit_bias, encoder.context_length) == expected


def test_preprocessing_is_the_models_own(kind, encoder):
    spec = encoder.image_spec
    if kind == "siglip":
        assert (spec.size, spec.mean, spec.resize, spec.interpolation) == (64, (0.5,) * 3, "squash", "bilinear")
    else:
        assert (spec.size, spec.mean, spec.resize, spec.interpolation) == (32, (0.4, 0.5, 0.6), "shortest", "bicubic")


@pytest.mark.parametrize("preprocess", [{"resize_mode": "longest"}])
def test_a_preprocessing_that_pads_is_refused(tmp_path, preprocess):
    folder = write_open_clip(tmp_path, preprocess=preprocess)
    with pytest.raises(UnsupportedEncoderError, match="resized by 'longest'"):
        load_encoder(f"open_clip:local-dir:{folder}", CPU)


def test_a_short_context_is_kept(tmp_path):
    encoder = load_encoder(
        f"open_clip:local-dir:{write_open_clip(tmp_path, text_cfg=TEXT | {'context_length': 16})}", CPU
    )
    assert encoder.context_length == 16
    assert encoder.token_ids(["word " * 40]).shape == (1, 16)


def test_a_second_start_with_the_same_labels_encodes_no_text(folder, tmp_path):
    first, second = (
        build_text_head(
            load_encoder(f"open_clip:local-dir:{folder}", CPU), NAMES, templates=TEMPLATES, cache_dir=tmp_path
        )
        for _ in range(2)
    )
    assert (first.cached, second.cached) == (False, True)
    np.testing.assert_array_equal(first.features, second.features)


def test_a_classifier_runs_on_it(encoder):
    prediction = Classifier(encoder, labels=["cat", "dog", "red fox"], n_views=6)(picture(90, 70))
    assert prediction.label in {"cat", "dog", "red fox"}
    assert prediction.votes.sum() == 1  # int(6 * 0.3)
