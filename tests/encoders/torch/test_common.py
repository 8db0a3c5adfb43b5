import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("open_clip")

from tests.encoders.torch.tiny_torch import write_open_clip  # noqa: E402
from viewvote.encoders import LoadOptions, load_encoder  # noqa: E402
from viewvote.encoders.torch.common import CPU_BLOCK, available_devices, pick_device, pick_dtype  # noqa: E402
from viewvote.errors import UsageError  # noqa: E402

pytestmark = pytest.mark.torch
CPU = LoadOptions(device="cpu")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_open_clip(tmp_path_factory.mktemp("open_clip"))


@pytest.fixture(scope="module")
def encoder(folder):
    return load_encoder(f"open_clip:local-dir:{folder}", CPU)


@pytest.fixture(scope="module")
def views():
    return np.random.default_rng(0).integers(0, 256, (CPU_BLOCK + 3, 32, 32, 3), dtype=np.uint8)


def changed(encoder, name, folder):
    """The fingerprint of an encoder loaded from the same folder, with one weight of `name` moved by one bit."""
    other = load_encoder(f"open_clip:local-dir:{folder}", CPU)
    with torch.no_grad():
        other.model.state_dict()[name].view(-1).view(torch.int32)[-1] += 1
    return other.fingerprint != encoder.fingerprint


def test_auto_takes_the_best_device_there_is():
    assert str(pick_device("auto")) == available_devices()[0]
    assert available_devices()[-1] == "cpu"


@pytest.mark.parametrize("name", ["cuda:97", "tpu", "", "cpu:0:1"])
def test_a_device_that_is_not_there_is_named_with_those_that_are(name):
    with pytest.raises(UsageError, match=r"is not available here; expected one of: auto, .*cpu"):
        pick_device(name)


def test_an_unknown_precision_is_named_with_the_known_ones():
    with pytest.raises(UsageError, match="dtype 'fp8' is unknown; expected one of: fp32, fp16, bf16"):
        pick_dtype("fp8")


def test_an_unavailable_device_is_noticed_before_the_weights_are_looked_for():
    with pytest.raises(UsageError, match="cuda:97"):
        load_encoder("open_clip:ViT-B-16/openai", LoadOptions(device="cuda:97", offline=True))


def test_features_are_float32_rows_of_length_one(encoder, views):
    for features in (encoder.encode_images(views), encoder.encode_texts(["a cat", "a dog"])):
        assert features.dtype == np.float32
        np.testing.assert_allclose(np.linalg.norm(features, axis=1), 1, atol=1e-6)


def test_views_over_several_batches_get_the_features_they_get_alone(encoder, views):
    together = encoder.encode_images(views)
    assert together.shape == (CPU_BLOCK + 3, encoder.dim)
    for i in (0, CPU_BLOCK - 1, CPU_BLOCK, CPU_BLOCK + 2):
        np.testing.assert_allclose(together[i], encoder.encode_images(views[i : i + 1])[0], atol=1e-6)


def test_pixels_are_scaled_shifted_and_divided_by_the_models_own_numbers(encoder, views):
    spec = encoder.image_spec
    expected = (views[:2].astype(np.float64) / 255 - spec.mean) / spec.std
    np.testing.assert_allclose(encoder.pixels(views[:2]).permute(0, 2, 3, 1), expected, atol=2e-6)


def test_read_only_and_strided_views_are_accepted(encoder, views):
    frozen = views[:4].copy()
    frozen.flags.writeable = False
    np.testing.assert_array_equal(encoder.encode_images(frozen), encoder.encode_images(views[:4]))
    np.testing.assert_array_equal(encoder.encode_images(frozen[::-1]), encoder.encode_images(views[:4][::-1].copy()))


def test_nothing_in_gives_nothing_out(encoder, views):
    assert encoder.encode_images(views[:0]).shape == (0, encoder.dim)
    assert encoder.encode_texts([]).shape == (0, encoder.dim)


@pytest.mark.parametrize("shape", [(1, 32, 31, 3), (32, 32, 3), (1, 3, 32, 32)])
def test_views_of_another_shape_are_refused(encoder, shape):
    with pytest.raises(UsageError, match=r"expects uint8 views of shape \(views, 32, 32, 3\)"):
        encoder.encode_images(np.zeros(shape, dtype=np.uint8))


def test_float_views_are_refused(encoder, views):
    with pytest.raises(UsageError, match="got float32"):
        encoder.encode_images(views.astype(np.float32))


def test_two_loads_of_the_same_files_share_a_fingerprint(encoder, folder):
    assert load_encoder(f"open_clip:local-dir:{folder}", CPU).fingerprint == encoder.fingerprint


@pytest.mark.parametrize("name", ["token_embedding.weight", "text_projection", "transformer.resblocks.1.ln_1.bias"])
def test_one_changed_bit_of_the_text_tower_changes_the_fingerprint(encoder, folder, name):
    assert changed(encoder, name, folder)


def test_the_vision_tower_does_not_change_the_fingerprint(encoder, folder):
    assert not changed(encoder, "visual.proj", folder)


def test_precision_and_activation_change_the_fingerprint(encoder, folder, tmp_path):
    half = load_encoder(f"open_clip:local-dir:{folder}", LoadOptions(device="cpu", dtype="bf16"))
    quick = load_encoder(f"open_clip:local-dir:{write_open_clip(tmp_path, quick_gelu=True)}", CPU)
    assert len({encoder.fingerprint, half.fingerprint, quick.fingerprint}) == 3


@pytest.mark.parametrize(("scheme", "absent"), [("open_clip", "torch"), ("open_clip", "open_clip"), ("hf", "torch")])
def test_without_the_extra_the_error_says_what_to_install(scheme, absent):
    code = f"""
import sys
sys.modules[{absent!r}] = None  # as if it were not installed
from viewvote.encoders import load_encoder
try:
    load_encoder("{scheme}:x/y")
except ImportError as error:
    print(type(error).__name__, error)
"""
    out = run(code)
    assert out.startswith("MissingExtraError A")
    assert 'pip install "viewvote[torch]"' in out


def test_the_protocols_load_no_torch():
    out = run("import sys, viewvote.encoders.torch.tunable; print('torch' in sys.modules)")
    assert out == "False\n"


def run(code):
    source = Path(__file__).parents[3] / "src"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={"PYTHONPATH": str(source)})
    assert done.returncode == 0, done.stderr
    return done.stdout
