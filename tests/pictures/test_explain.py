"""The picture of why: everything it must show is in it, for any kind of prediction."""

import numpy as np
import pytest
from PIL import Image

from tests.conftest import draw_photo
from viewvote import Classifier
from viewvote.pictures.drawing import fit, font
from viewvote.pictures.explain import OTHER, PALETTE, _colours, explain


def rgb(colour):
    return tuple(int(colour[i : i + 2], 16) for i in (1, 3, 5))


def has_colour(image, colour):
    return bool((np.asarray(image) == rgb(colour)).all(axis=-1).any())


def two_colours():
    pixels = np.zeros((120, 180, 3), np.uint8)
    pixels[:, :90], pixels[:, 90:] = (250, 0, 0), (0, 250, 0)
    return Image.fromarray(pixels)


def test_the_votes_of_two_labels_have_two_colours():
    prediction = Classifier("toy", labels=["red", "green"], keep=1.0, n_views=24)(two_colours())
    assert prediction.votes.min() > 0
    picture = explain(two_colours(), prediction)
    assert has_colour(picture, PALETTE[0])
    assert has_colour(picture, PALETTE[1])


@pytest.mark.parametrize("size", [(60, 40), (40, 400), (1, 1), (1500, 900)])
@pytest.mark.parametrize("method", ["zero", "zero-shot", "marginal"])
def test_any_photo_and_method_can_be_explained(size, method):
    image = draw_photo(*size) if min(size) > 9 else Image.new("RGB", size)
    prediction = Classifier("toy", labels=["red", "green", "ein sehr langes Etikett " * 9], method=method, n_views=8)(
        image
    )
    picture = explain(image, prediction)
    assert picture.mode == "RGB"
    assert picture.width < 4000


def test_labels_beyond_the_palette_share_grey():
    labels = [f"label {i}" for i in range(10)]
    prediction = Classifier("toy", labels=["red", *labels], n_views=4)(two_colours())
    colours = _colours(prediction, prediction.trace.views)
    assert colours.get("nothing", OTHER) == OTHER
    assert len(set(colours.values())) == len(colours)


def test_long_text_is_cut_to_its_place():
    small = font(11)
    assert fit("short", 10_000, small) == "short"
    cut = fit("a very long label " * 20, 300, small)
    assert cut.endswith("...")
    assert small.getlength(cut) <= 300
