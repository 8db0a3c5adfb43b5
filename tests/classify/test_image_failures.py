"""An exception in any stage of one image is that image's error, on every path; the images beside it are answered."""

import numpy as np
import pytest
from PIL import Image

from tests.images.image_files import encode
from tests.images.pictures import BLUE, GREEN, RED, picture
from viewvote import Classifier
from viewvote.classify import prefetch
from viewvote.classify.together import predict_together
from viewvote.errors import UnreadableImageError, ViewvoteError
from viewvote.images import apart, photo
from viewvote.rng import content_key
from viewvote.views import crops, draw, sample
from viewvote.views.sample import Keyed

BAD = (61, 47)
"""The size of the image that fails; the stages know it by this."""


class ForeignError(Exception):
    """Of a library that nobody knows."""


def failing(original, is_bad):
    def stage(*args, **kwargs):
        if is_bad(*args, **kwargs):
            raise ForeignError("box can't be empty")
        return original(*args, **kwargs)

    return stage


BAD_PNG = encode(Image.new("RGB", BAD, RED))
BAD_KEY = content_key(BAD_PNG)


def spoil(monkeypatch, stage):
    """Make one stage fail for the bad image alone."""
    spoilt = {
        "pinned": (prefetch, "pinned", lambda image, **_: image is BAD_PNG),
        "read": (photo, "read_encoded", lambda data, limits: data == BAD_PNG),
        "header": (photo, "header_of", lambda data, name, limits: data == BAD_PNG),
        "key": (photo, "content_key", lambda data: data == BAD_PNG),
        "boxes": (sample, "SampledViews", lambda size, *_, **__: size == BAD),
        "crops": (crops, "_random_view", lambda size, _: size == BAD),
        "random numbers": (sample, "sample_rng", lambda **kw: kw["key"] == BAD_KEY and kw["stream"] == "ties"),
        "decode": (apart, "decode", lambda data, *_, **__: data == BAD_PNG),
        "convert": (Image.Image, "load", lambda image: image.size == BAD),
        "reductions": (sample, "reductions", lambda views, *_, **__: views[0].box.height == BAD[1]),
        "draw": (draw, "_render_source", lambda level, *_: level.size == BAD),
    }
    place, name, is_bad = spoilt[stage]
    if stage == "random numbers":
        original = getattr(place, name)
        monkeypatch.setattr(place, name, failing(original, lambda **kw: is_bad(**{"stream": "views"} | kw)))
    else:
        monkeypatch.setattr(place, name, failing(getattr(place, name), is_bad))


STAGES = ["read", "header", "key", "boxes", "crops", "random numbers", "decode", "convert", "reductions", "draw"]
IMAGES = [encode(picture(RED)), BAD_PNG, encode(picture(GREEN)), encode(picture(BLUE))]


@pytest.fixture
def clf():
    return Classifier("toy", labels=["red", "green", "blue"], n_views=8)


def labels_around_the_bad(answers):
    """The labels of the others, once the bad image's error has been seen in its place."""
    assert len(answers) == 4
    assert isinstance(answers[1], UnreadableImageError)
    assert "box can't be empty" in str(answers[1])
    return [answer.label for answer in answers if not isinstance(answer, ViewvoteError)]


@pytest.mark.parametrize("stage", STAGES)
def test_one_image_raises_its_own_error(monkeypatch, clf, stage):
    spoil(monkeypatch, stage)
    with pytest.raises(UnreadableImageError, match="box can't be empty"):
        clf(BAD_PNG)


@pytest.mark.parametrize("stage", STAGES)
def test_a_stream_goes_on(monkeypatch, clf, stage):
    spoil(monkeypatch, stage)
    answers = list(clf.predict_many(IMAGES, batch_views=8, on_error="return"))
    assert labels_around_the_bad(answers) == ["red", "green", "blue"]


@pytest.mark.parametrize("stage", STAGES)
def test_methods_that_share_views_go_on(monkeypatch, clf, stage):
    spoil(monkeypatch, stage)
    second = Classifier(clf.encoder, labels=["red", "green", "blue"], n_views=8, method="marginal")
    answers = [both[1] for both in predict_together([clf, second], map(Keyed, IMAGES, [None] * 4))]
    assert labels_around_the_bad(answers) == ["red", "green", "blue"]


class LaterError(Exception):
    """In the second round of views."""


def test_an_image_that_fails_in_a_later_round_of_views_fails_alone(monkeypatch):
    adaptive = Classifier("toy", labels=["red", "green", "blue"], n_views=64, stop="exact")
    assert len(adaptive.round_ends) > 1
    wide = Image.fromarray(np.random.default_rng(0).integers(0, 256, (BAD[1], BAD[0], 3), dtype=np.uint8))
    bad = encode(wide)
    rounds = []
    original = sample.Drawing

    def drawing(levels, views, spec, **how):
        if levels[1].size == BAD:
            rounds.append(len(views))
            if len(rounds) > 1:
                raise LaterError("the disk is gone")
        return original(levels, views, spec, **how)

    monkeypatch.setattr(sample, "Drawing", drawing)
    images = [encode(picture(RED)), bad, encode(picture(GREEN))]
    first, failed, last = adaptive.predict_many(images, on_error="return")
    assert len(rounds) == 2
    assert (first.label, last.label) == ("red", "green")
    assert isinstance(failed, UnreadableImageError)
    assert "the disk is gone" in str(failed)


@pytest.mark.parametrize("path", ["one/\x00cat.jpg", "a\ud800b.jpg", "a" * 5000])
def test_a_path_that_no_file_can_have_fails_alone(clf, path):
    first, failed, last = clf.predict_many([IMAGES[0], path, IMAGES[2]], on_error="return")
    assert (first.label, last.label) == ("red", "green")
    assert isinstance(failed, UnreadableImageError)


def test_a_generator_that_raises_does_so_after_the_answers_of_what_it_gave(clf):
    def images():
        yield IMAGES[0]
        yield IMAGES[2]
        raise ForeignError("the disk is gone")

    for on_error in ("raise", "return"):
        answers = clf.predict_many(images(), on_error=on_error)
        assert [next(answers).label, next(answers).label] == ["red", "green"]
        with pytest.raises(ForeignError, match="the disk is gone"):
            next(answers)
