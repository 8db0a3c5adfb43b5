"""The embedded model: it is there, small, honest about itself, and the same in torch and in ONNX."""

import json
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import draw_photo
from viewvote import Classifier, LoadOptions, load_encoder
from viewvote.encoders.pocket.pack import pocket_dir
from viewvote.errors import ModelNotFoundError, UnsupportedEncoderError
from viewvote.files import example_photos, shipped
from viewvote.views.sample import prepare

TEXTS = ["a photo of a cat.", "a photo of a very old wooden rocking chair.", "dog", "zebra crossing, Zürich 1921"]


@pytest.fixture(scope="module")
def encoder():
    return load_encoder("pocket", LoadOptions(runtime="onnxruntime"))


def views(n, seed=0):
    size = 224
    return np.stack([np.asarray(draw_photo(size, size, seed=seed + i)) for i in range(n)])


def test_the_pack_is_complete_and_small():
    folder = pocket_dir()
    names = {path.name for path in folder.iterdir()}
    assert {"vision.onnx", "vision.int8.onnx", "text.onnx", "tokenizer.json", "viewvote.json", "model-card.md"} <= names
    assert sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) <= 40_000_000
    assert json.loads((folder / "viewvote.json").read_text())["name"] == "pocket"


def test_features_are_unit_and_do_not_depend_on_company(encoder):
    pixels = views(5)
    together = encoder.encode_images(pixels)
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    np.testing.assert_array_equal(together, np.concatenate([encoder.encode_images(p[None]) for p in pixels]))
    texts = encoder.encode_texts(TEXTS)
    np.testing.assert_array_equal(texts, np.concatenate([encoder.encode_texts([t]) for t in TEXTS]))
    assert texts.shape == (len(TEXTS), encoder.dim)


def test_something_missing_says_where_it_was_expected():
    with pytest.raises(ModelNotFoundError, match="nothing/here is missing from this installation"):
        shipped("nothing/here")


def test_the_examples_get_the_right_answer_among_twenty_everyday_labels():
    labels = (Path(__file__).parents[3] / "examples" / "labels.txt").read_text().splitlines()
    assert len(labels) == 20
    clf = Classifier("pocket", labels=labels)
    expected = {"astronaut": "astronaut", "cat": "cat", "coffee": "coffee cup", "rocket": "rocket"}
    assert {path.stem: clf(path).label for path in example_photos()} == expected


def test_the_int8_tower_is_the_default_and_close_to_the_float_one(encoder):
    int8, float32 = (load_encoder("pocket", LoadOptions(precision=p)) for p in ("int8", "fp32"))
    pixels = np.concatenate([prepare(path, int8.image_spec, n_views=4, seed=0).pixels for path in example_photos()])
    features = int8.encode_images(pixels)
    np.testing.assert_array_equal(features, encoder.encode_images(pixels))
    cosines = (features * float32.encode_images(pixels)).sum(axis=1)
    assert cosines.mean() > 0.97
    # Both parts of a feature, the long one and the short one for captions, survive int8.
    assert (np.abs(features) > 0).mean() > 0.99


@pytest.mark.torch
def test_the_torch_form_has_the_same_weights(encoder):
    pytest.importorskip("torch")
    torch_form, float32 = load_encoder("pocket-torch"), load_encoder("pocket", LoadOptions(precision="fp32"))
    np.testing.assert_allclose(torch_form.encode_images(views(3)), float32.encode_images(views(3)), atol=2e-4)
    np.testing.assert_allclose(torch_form.encode_texts(TEXTS), encoder.encode_texts(TEXTS), atol=2e-4)
    assert torch_form.logit_scale == encoder.logit_scale
    assert torch_form.image_spec == encoder.image_spec


@pytest.mark.torch
def test_the_torch_form_can_be_tuned():
    torch = pytest.importorskip("torch")
    from viewvote.encoders.torch.tunable import DeepPromptTunable, PromptTunable, VisionTunable

    model = load_encoder("pocket-torch")
    assert isinstance(model, PromptTunable)
    assert isinstance(model, VisionTunable)
    assert not isinstance(model, DeepPromptTunable)
    context = model.initial_context("a photo of a")
    assert context.shape == (4, model.text_width)
    words = model.text_features_from_context(context, ["cat", "tabby cat"], placeholder="a photo of a")
    plain = model.encode_texts(["a photo of a cat.", "a photo of a tabby cat."])
    np.testing.assert_allclose(words.numpy(), plain, atol=1e-5)
    context.requires_grad_(True)
    tuned = model.text_features_from_context(context, ["cat", "tabby cat"], placeholder="a photo of a")
    tuned[0, 0].backward()
    assert torch.isfinite(context.grad).all()
    assert context.grad.abs().max() > 0
    with pytest.raises(UnsupportedEncoderError, match="inside its blocks"):
        model.text_features_from_context(context, ["cat"], placeholder="a photo of a", deep=[context])


def test_a_photograph_of_a_pet_is_recognised(photos):
    found = sorted((photos / "eval" / "oxford_pets").glob("*abyssinian*/*.jpg"))[:3]
    clf = Classifier("pocket", labels=["cat", "car", "airplane", "banana", "house"], n_views=8)
    assert [clf(path).label for path in found] == ["cat"] * 3
