"""The contract of encoders: every family keeps it, and each way to break it has a sentence."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.encoders.onnx import packs
from viewvote import LoadOptions, ToyEncoder, load_encoder
from viewvote.encoders import SCHEMES
from viewvote.errors import UsageError
from viewvote.testing import ContractError, check_encoder


def _pack(folder: Path) -> str:
    return f"onnx:{packs.write_pack(folder)}"


def _open_clip(folder: Path) -> str:
    from tests.encoders.torch.naive_clip import save_tiny

    return f"open_clip:local-dir:{save_tiny(folder / 'tiny')}"


def _transformers(folder: Path) -> str:
    from tests.encoders.torch.tiny_torch import write_siglip

    write_siglip(folder)
    return f"hf:{folder}"


def _coop(folder: Path) -> str:
    from tests.encoders.checkpoints.dassl_files import coop_state, save_dassl
    from tests.encoders.torch.naive_clip import TEXT

    return f"coop:{save_dassl(folder / 'model.pth.tar-50', coop_state(4, width=TEXT))}@{_open_clip(folder)}"


def _maple(folder: Path) -> str:
    from tests.encoders.checkpoints.dassl_files import maple_state, save_dassl
    from tests.encoders.torch.naive_clip import TEXT, VISION

    state = maple_state(n_ctx=2, depth=2, text_width=TEXT, vision_width=VISION)
    return f"maple:{save_dassl(folder / 'model.pth.tar-2', state, epoch=2)}@{_open_clip(folder)}"


MODELS: dict[str, Callable[[Path], str]] = {
    "onnx": _pack,
    "open_clip": _open_clip,
    "hf": _transformers,
    "coop": _coop,
    "maple": _maple,
}
"""The schemes that need files: a function from an empty folder to a model id."""


@pytest.mark.parametrize("scheme", list(SCHEMES))
def test_every_family_keeps_the_contract(scheme: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    if scheme == "clip-b16":
        request.getfixturevalue("clip_b16")
    if not SCHEMES.entry(scheme).is_installed:
        pytest.skip(f"needs the extra {SCHEMES.entry(scheme).extra}")
    model_id = MODELS[scheme](tmp_path) if scheme in MODELS else scheme
    check_encoder(load_encoder(model_id, LoadOptions(device="cpu")))


class Broken(ToyEncoder):
    """A toy to break."""

    def __init__(self, **facts: object) -> None:
        super().__init__(size=8)
        for name, value in facts.items():
            setattr(self, name, value)


def wrong(name: str, change: Callable[[np.ndarray], object]) -> Broken:
    """A toy whose `encode_images` or `encode_texts` gives something else."""
    encoder = Broken()
    right = getattr(encoder, name)
    setattr(encoder, name, lambda items: change(right(items)))
    return encoder


def forgetful() -> Broken:
    encoder = Broken()
    calls = iter(range(100))
    right = encoder.encode_images
    encoder.encode_images = lambda views: np.roll(right(views), next(calls), axis=1)
    return encoder


def scribbling() -> Broken:
    encoder = Broken()
    right = encoder.encode_images

    def encode(views):
        features = right(views)
        views[:] = 0
        return features

    encoder.encode_images = encode
    return encoder


def mixing() -> Broken:
    """Features that depend on the whole batch, though each view is said to stand alone."""
    encoder = Broken()
    right = encoder.encode_images

    def encode(views):
        features = right(views) + np.float32(1e-5 * len(views))
        return features / np.linalg.norm(features, axis=1, keepdims=True)

    encoder.encode_images = encode
    return encoder


def careless() -> Broken:
    encoder = Broken()
    right = encoder.encode_images
    encoder.encode_images = lambda views: right(views.astype(np.uint8))
    return encoder


def positional() -> Broken:
    encoder = Broken()
    encoder.encode_texts = lambda texts: np.eye(3, dtype=np.float32)[[i % 3 for i in range(len(texts))]]
    return encoder


@pytest.mark.parametrize(
    ("encoder", "sentence"),
    [
        (object(), "the encoder is a object, which is no Encoder: it has no model_id"),
        (ToyEncoder, "the encoder is the class ToyEncoder"),
        (Broken(model_id=""), "model_id must be a text that is not empty"),
        (Broken(fingerprint=None), "fingerprint must be a text"),
        (Broken(dim=3.0), r"dim must be a whole number above 0, got 3\.0"),
        (Broken(logit_scale=float("inf")), "logit_scale must be a finite number above 0, got inf"),
        (Broken(logit_bias=float("nan")), "logit_bias must be a finite number"),
        (Broken(scoring="max"), "scoring must be one of"),
        (Broken(block_views=0), "block_views must be None or a whole number above 0, got 0"),
        (Broken(linear_cost=1), "linear_cost must be True or False, got 1"),
        (Broken(dim=4), r"encode_images must give shape \(3, 4\), got \(3, 3\)"),
        (wrong("encode_images", lambda f: f.tolist()), "encode_images must give a NumPy array, got list"),
        (wrong("encode_images", lambda f: f.astype(np.float64)), "encode_images must give float32, got float64"),
        (wrong("encode_images", lambda f: 2 * f), "encode_images must give rows of length 1 .*; one is off by 1$"),
        (wrong("encode_images", lambda f: f * np.float32("nan")), "encode_images must give finite numbers"),
        (wrong("encode_texts", lambda f: f[:1]), r"encode_texts must give shape \(4, 3\), got \(1, 3\)"),
        (forgetful(), "encode_images must give the same features for the same views"),
        (scribbling(), "encode_images must leave its views as they are"),
        (mixing(), "block_views is 1, so views 0 to 0 must have the same features"),
        (careless(), "encode_images must raise UsageError for float32 views"),
        (positional(), "the feature of a text must not depend on the texts around it"),
    ],
)
def test_a_broken_promise_has_its_sentence(encoder: object, sentence: str) -> None:
    with pytest.raises(ContractError, match=sentence):
        check_encoder(encoder)


def test_nothing_is_promised_of_batches_where_no_block_is_known() -> None:
    encoder = mixing()
    encoder.block_views = None
    check_encoder(encoder)


def test_an_error_of_the_encoder_itself_is_not_hidden() -> None:
    encoder = Broken()

    def fail(texts):
        raise UsageError("no texts today")

    encoder.encode_texts = fail
    with pytest.raises(UsageError, match="no texts today"):
        check_encoder(encoder)
