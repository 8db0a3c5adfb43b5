"""The Encoder protocol: what it declares, what has a default, and how a wrong object is refused."""

import inspect
from functools import cached_property

import numpy as np
import pytest

from viewvote import BaseEncoder, Classifier, Encoder, ImageSpec, ToyEncoder, load_encoder
from viewvote.encoders import SCHEMES
from viewvote.encoders.base import MEMBERS, checked_encoder
from viewvote.errors import UsageError


class Plain(BaseEncoder):
    """The least that an encoder has to bring itself."""

    model_id, fingerprint, dim, logit_scale = "plain", "plain-1", 2, 10.0
    image_spec = ImageSpec(size=4)

    def encode_images(self, views):
        return np.ones((len(views), 2), dtype=np.float32) / np.sqrt(2, dtype=np.float32)

    def encode_texts(self, texts):
        return np.eye(2, dtype=np.float32)[[len(text) % 2 for text in texts]]


def test_the_members_are_what_the_protocol_declares():
    declared = {name for name, _ in inspect.getmembers(Encoder) if not name.startswith("_")}
    assert set(MEMBERS) == declared
    assert {"block_views", "linear_cost", "scoring", "fingerprint"} <= declared


def test_the_base_class_brings_defaults_for_what_few_models_change():
    assert isinstance(Plain(), Encoder)
    assert (Plain().logit_bias, Plain().scoring, Plain().block_views, Plain().linear_cost) == (
        0.0,
        "softmax",
        None,
        False,
    )


def test_an_encoder_of_ones_own_classifies():
    clf = Classifier(Plain(), labels=["ab", "abc"], n_views=3)
    assert clf(np.zeros((9, 9, 3), dtype=np.uint8)).label == "ab"  # both are equally near: the first wins


@pytest.mark.parametrize(
    ("role", "arguments"), [("model", {"model": object()}), ("teacher", {"model": "toy", "teacher": object()})]
)
def test_an_object_that_is_no_encoder_is_refused_with_what_it_lacks(role, arguments):
    with pytest.raises(UsageError, match=f"^{role} is a object, which is no Encoder: it has no model_id, fingerprint"):
        Classifier(**arguments, labels=["red", "green"])


def test_only_what_is_missing_is_listed():
    class Half(BaseEncoder):
        model_id, fingerprint, dim, logit_scale = "half", "1", 2, 1.0
        image_spec = ImageSpec(size=4)

    with pytest.raises(UsageError, match=r"it has no encode_images, encode_texts\. Expected a model id"):
        checked_encoder(Half())


def test_a_class_in_place_of_an_object_is_named():
    with pytest.raises(UsageError, match="model is the class ToyEncoder; give an object of it"):
        Classifier(ToyEncoder, labels=["red", "green"])


def test_checking_computes_no_fingerprint():
    class Costly(Plain):
        @cached_property
        def fingerprint(self):
            raise AssertionError("computed")

    encoder = Costly()
    assert checked_encoder(encoder) is encoder


def test_a_loader_that_returns_something_else_is_named_by_its_model_id(monkeypatch):
    monkeypatch.setitem(SCHEMES._objects, "toy", lambda rest, options: None)
    with pytest.raises(UsageError, match="what 'toy' loads is a NoneType, which is no Encoder"):
        load_encoder("toy")
