"""The test double does what its docstring says, by hand."""

import numpy as np
import pytest

from viewvote.encoders import SCHEMES, Encoder, LoadOptions, load_encoder, split_model_id
from viewvote.encoders.base import unit_rows
from viewvote.encoders.toy import ToyEncoder
from viewvote.errors import UnknownNameError, UsageError


def test_features_by_hand():
    toy = ToyEncoder(size=2)
    red_and_green = np.array([[[[100, 0, 0], [0, 100, 0]], [[100, 0, 0], [0, 100, 0]]]], dtype=np.uint8)
    np.testing.assert_allclose(toy.encode_images(red_and_green), [[0.5**0.5, 0.5**0.5, 0]], atol=1e-6)
    np.testing.assert_array_equal(toy.encode_images(np.zeros((1, 2, 2, 3), np.uint8)), [[0, 0, 0]])  # black
    np.testing.assert_allclose(toy.encode_texts(["a photo of a Red car."]), [[1, 0, 0]])
    np.testing.assert_allclose(toy.encode_texts(["a yellow and red flag"]), [[0.5**0.5, 0.5**0.5, 0]])
    np.testing.assert_allclose(toy.encode_texts(["a redundant word"]), [[3**-0.5] * 3])
    assert toy.encode_texts([]).shape == (0, 3)


def test_it_is_an_encoder_and_can_be_loaded_by_name():
    encoder = load_encoder("toy")
    assert isinstance(encoder, Encoder)
    assert isinstance(encoder, ToyEncoder)
    assert load_encoder("toy", LoadOptions(device="cpu")).dim == 3


def test_model_ids_are_split_at_the_first_colon():
    assert split_model_id("onnx:C:/models/x") == ("onnx", "C:/models/x")
    assert split_model_id("toy") == ("toy", "")


def test_unknown_and_incomplete_model_ids_are_errors():
    with pytest.raises(UnknownNameError, match=r"no model 'tyo'\. Did you mean 'toy'"):
        load_encoder("tyo")
    with pytest.raises(UnknownNameError, match="Did you mean 'open_clip'"):
        load_encoder("openclip:ViT-B-16/openai")
    with pytest.raises(UsageError, match="names nothing after the scheme"):
        load_encoder("onnx:")


@pytest.mark.parametrize("model", ["toy:xyz", "pocket:foo", "pocket-torch:foo", "clip-b16:foo", "toy:"])
def test_a_model_without_variants_takes_no_name(model):
    with pytest.raises(UsageError, match="is one model"):
        load_encoder(model)


@pytest.mark.parametrize(
    "wrong", [{"device": "nonsense"}, {"device": "cuda:"}, {"dtype": "f32"}, {"runtime": "ort"}, {"precision": "int9"}]
)
def test_options_are_checked_even_where_the_model_has_no_use_for_them(wrong):
    with pytest.raises(UsageError, match=next(iter(wrong))):
        load_encoder("toy", LoadOptions(**wrong))


@pytest.mark.parametrize("device", ["auto", "cpu", "mps", "cuda", "cuda:1"])
def test_every_device_of_torch_can_be_asked_for(device):
    load_encoder("toy", LoadOptions(device=device))


def test_every_scheme_tells_what_it_is():
    for scheme in SCHEMES:
        assert SCHEMES.entry(scheme).summary


def test_unit_rows_leave_zero_rows_alone():
    np.testing.assert_allclose(unit_rows(np.array([[3, 4], [0, 0]])), [[0.6, 0.8], [0, 0]], atol=1e-7)


def test_options_that_a_family_has_no_use_for_are_named(caplog):
    load_encoder("toy", LoadOptions(device="cpu", precision="int8", runtime="openvino"))
    assert caplog.messages == []
    load_encoder("toy", LoadOptions(device="cuda:1", dtype="fp16"))
    assert caplog.messages == [
        "toy runs on the CPU, without torch: device cuda:1 and dtype fp16 can only be had with torch models."
    ]


def test_a_torch_model_names_the_options_of_packs(caplog):
    pytest.importorskip("torch")
    load_encoder("pocket-torch", LoadOptions(precision="int8"))
    assert caplog.messages == ["pocket-torch runs in torch: precision int8 can only be had with ONNX packs."]
