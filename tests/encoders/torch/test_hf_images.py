"""What a transformers image processor does to an image, as the spec of our own drawing."""

import numpy as np
import pytest

pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from PIL import Image  # noqa: E402

from viewvote.encoders.torch.hf_images import image_spec  # noqa: E402
from viewvote.errors import UnsupportedEncoderError  # noqa: E402

pytestmark = pytest.mark.torch


def processor(**changes):
    return transformers.CLIPImageProcessor(**changes)


def test_a_plain_square_is_squashed_and_resample_codes_are_pillows():
    square = {"height": 48, "width": 48}
    spec = image_spec(
        processor(size=square, do_center_crop=False, resample=Image.Resampling.LANCZOS), image_size=48, model_id="m"
    )
    assert (spec.size, spec.resize, spec.interpolation) == (48, "squash", "lanczos")


def test_without_resizing_the_towers_own_size_is_used():
    spec = image_spec(processor(do_resize=False, do_center_crop=False), image_size=96, model_id="m")
    assert (spec.size, spec.resize) == (96, "shortest")


def test_rescaling_and_normalising_are_folded_into_mean_and_std():
    plain = image_spec(processor(do_normalize=False), image_size=224, model_id="m")
    assert (plain.mean, plain.std) == ((0, 0, 0), (1, 1, 1))
    signed = image_spec(
        processor(rescale_factor=1 / 127.5, image_mean=[1, 1, 1], image_std=[1, 1, 1]), image_size=224, model_id="m"
    )  # x / 127.5 - 1, as (x / 255 - 0.5) / 0.5
    np.testing.assert_allclose([*signed.mean, *signed.std], 0.5)


@pytest.mark.parametrize(
    "changes",
    [
        {"size": {"height": 48, "width": 64}, "do_center_crop": False},
        {"size": {"shortest_edge": 30}, "crop_size": {"height": 32, "width": 32}},
        {"size": {"height": 48, "width": 48}, "crop_size": {"height": 32, "width": 32}},
        {"resample": Image.Resampling.BOX},
    ],
)
def test_processors_that_we_cannot_follow_are_refused(changes):
    with pytest.raises(UnsupportedEncoderError, match="wants its images resized to"):
        image_spec(processor(**changes), image_size=32, model_id="m")
