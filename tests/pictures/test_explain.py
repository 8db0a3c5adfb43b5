"""The picture of why: everything it must show is in it, for any kind of prediction."""

from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from tests.conftest import draw_photo
from viewvote import Classifier
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


def test_few_views_take_little_room_and_their_number_is_grammar(monkeypatch):
    said = []
    monkeypatch.setattr("viewvote.pictures.explain.write", lambda draw, place, text, **how: said.append(text))
    narrow = explain(two_colours(), Classifier("toy", labels=["red", "green"], n_views=2)(two_colours()))
    assert "where the kept view looked" in said
    assert "1 less confident view, not counted" in said
    said.clear()
    wide = explain(two_colours(), Classifier("toy", labels=["red", "green"], n_views=64)(two_colours()))
    assert "where the 19 kept views looked" in said
    assert "45 less confident views, not counted" in said
    assert narrow.width < wide.width


def test_the_picture_says_why_the_vote_ended(monkeypatch):
    said = []
    monkeypatch.setattr("viewvote.pictures.explain.write", lambda draw, place, text, **how: said.append(text))
    prediction = Classifier("toy", labels=["red", "green"])(two_colours())
    explain(two_colours(), prediction)
    assert prediction.views_asked == 64
    assert prediction.settled == f"{prediction.views_used} of 64 views settled it"
    assert prediction.settled in said
    assert not any("settled" in text for text in explained_texts(said, n_views=2))


def explained_texts(said, *, n_views):
    """What the picture of an answer says where no rule was at work."""
    said.clear()
    explain(two_colours(), Classifier("toy", labels=["red", "green"], n_views=n_views)(two_colours()))
    return said


def test_the_picture_names_its_file(monkeypatch):
    said = []
    monkeypatch.setattr("viewvote.pictures.explain.write", lambda draw, place, text, **how: said.append(text))
    prediction = Classifier("toy", labels=["red", "green"], n_views=2)(two_colours())
    explain(two_colours(), prediction)
    unnamed = [*said]
    explain(two_colours(), replace(prediction, path="deep/日本.png"))
    assert "日本.png" in said
    assert "日本.png" not in unnamed


def test_bars_that_are_more_than_votes_say_so(monkeypatch):
    said = []
    monkeypatch.setattr("viewvote.pictures.explain.write", lambda draw, place, text, **how: said.append(text))
    for method in ("zero", "anchored"):
        explain(two_colours(), Classifier("toy", labels=["red", "green"], method=method, n_views=16)(two_colours()))
    assert [text for text in said if text.startswith("votes")] == [
        "votes",
        "votes (the bars count the source view too)",
    ]
