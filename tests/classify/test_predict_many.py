"""Many images through one classifier: the same answers, bounded memory, reused buffers, failures of single images."""

import io
import threading
import weakref
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.conftest import draw_photo
from tests.images.pictures import BLUE, GREEN, RED, encoded, picture, same
from viewvote import Classifier, ToyEncoder, ViewvoteError
from viewvote.errors import NonFiniteError, UnknownNameError, UnreadableImageError, UsageError
from viewvote.views.sample import Keyed


@pytest.fixture
def clf():
    return Classifier("toy", labels=["red", "green", "blue"], n_views=16)


@pytest.mark.parametrize("batch_views", [1, 16, 50, 1000])
def test_many_equal_one_at_a_time_bit_for_bit(clf, batch_views):
    images = [draw_photo(50 + i, 40, seed=i) for i in range(7)]
    many = list(clf.predict_many((i for i in images), batch_views=batch_views))
    assert len(many) == 7
    for image, prediction in zip(images, many, strict=True):
        assert same(prediction, clf(image))


def test_streaming_holds_a_bounded_number_of_images_and_their_copies(clf):
    alive, most = 0, 0

    def gone():
        nonlocal alive
        alive -= 1

    def tracked(image):
        nonlocal alive, most
        weakref.finalize(image, gone)
        alive += 1
        most = max(most, alive)
        return image

    class Tracked(np.ndarray):
        def copy(self):
            return tracked(super().copy())

    stream = (tracked(np.zeros((20, 20, 3), np.uint8).view(Tracked)) for _ in range(60))
    assert sum(1 for _ in clf.predict_many(stream, batch_views=32)) == 60
    assert most <= 8


def test_the_stream_is_not_read_ahead_of_need(clf):
    read = []

    def stream():
        for i in range(100):
            read.append(i)
            yield picture()

    next(clf.predict_many(stream(), batch_views=16))
    assert len(read) <= 4


COLOURS = [RED, GREEN, BLUE] * 4


def refilled_array(_):
    buffer = np.zeros((30, 40, 3), np.uint8)
    for colour in COLOURS:
        buffer[:] = colour
        yield buffer


def refilled_image(_):
    image = picture()
    for colour in COLOURS:
        image.paste(colour, (0, 0, 40, 30))
        yield image


def refilled_bytes(_):
    buffer = bytearray(len(encoded(picture(RED), "BMP")))
    for colour in COLOURS:
        buffer[:] = encoded(picture(colour), "BMP")
        yield buffer


def closed_images(paths):
    for path in paths:
        with Image.open(path) as image:
            yield image


def closed_files(paths):
    for path in paths:
        with path.open("rb") as file:
            yield file


def closed_files_with_keys(paths):
    for path in paths:
        with path.open("rb") as file:
            yield Keyed(file, key=path.name)


@pytest.mark.parametrize(
    "stream",
    [refilled_array, refilled_image, refilled_bytes, closed_images, closed_files, closed_files_with_keys],
)
def test_a_generator_may_reuse_or_close_what_it_gave(clf, tmp_path, stream):
    paths = [tmp_path / f"{i}.bmp" for i in range(len(COLOURS))]
    for path, colour in zip(paths, COLOURS, strict=True):
        path.write_bytes(encoded(picture(colour), "BMP"))
    found = [prediction.label for prediction in clf.predict_many(stream(paths), batch_views=48)]
    assert found == ["red", "green", "blue"] * 4


@pytest.mark.parametrize("on_error", ["raise", "return"])
def test_a_file_that_was_closed_before_is_the_error_of_one_image(clf, tmp_path, on_error):
    path = tmp_path / "shut.png"
    path.write_bytes(encoded(picture()))
    with path.open("rb") as shut:
        pass
    stream = clf.predict_many([picture(), shut, picture(GREEN)], on_error=on_error)
    if on_error == "raise":
        with pytest.raises(UnreadableImageError, match=r"cannot read .*shut\.png: .*closed"):
            list(stream)
    else:
        red, error, green = stream
        assert isinstance(error, UnreadableImageError)
        assert (red.label, green.label) == ("red", "green")


def test_an_unreadable_image_stops_or_is_returned_in_place(clf, tmp_path):
    bad = tmp_path / "bad.jpg"
    bad.write_bytes(b"nope")
    images = [picture(), bad, picture(GREEN), bad, bad, picture()]
    with pytest.raises(UnreadableImageError, match=r"bad\.jpg"):
        list(clf.predict_many(images))
    results = list(clf.predict_many(images, on_error="return", batch_views=48))
    assert [isinstance(r, ViewvoteError) for r in results] == [False, True, False, True, True, False]
    assert [r.label for r in results if not isinstance(r, ViewvoteError)] == ["red", "green", "red"]


def test_unusable_logits_of_one_image_leave_the_others_alone(clf):
    class Sick(ToyEncoder):
        def encode_images(self, views):
            features = super().encode_images(views)
            features[views.reshape(len(views), -1, 3).mean(axis=1)[:, 1] > 200] = np.nan  # green views
            return features

    sick = Classifier(Sick(), labels=["red", "green", "blue"], n_views=4)
    images = [picture(), picture(GREEN), picture()]
    results = list(sick.predict_many(images, on_error="return", batch_views=12))
    assert [isinstance(r, NonFiniteError) for r in results] == [False, True, False]
    with pytest.raises(NonFiniteError, match="view 0"):
        list(sick.predict_many(images))
    with pytest.raises(NonFiniteError, match="view 0"):
        sick(picture(GREEN))


def test_no_images_no_predictions(clf):
    assert list(clf.predict_many([])) == []
    assert clf.predict_proba([]).shape == (0, 3)


@pytest.mark.parametrize("batch_views", [0, 1.5, "all", True])
def test_batch_views_that_are_no_number_above_zero_are_an_error_at_once(clf, batch_views):
    with pytest.raises(UsageError, match="batch_views"):
        clf.predict_many([picture()], batch_views=batch_views)


def test_an_unknown_on_error_is_an_error_at_once(clf):
    with pytest.raises(UnknownNameError, match="no on_error 'skip'"):
        clf.predict_many([picture()], on_error="skip")


@pytest.mark.parametrize(
    "image",
    [
        "cat.jpg",
        b"bytes",
        Path("cat.jpg"),
        io.BytesIO(b"x"),
        picture(),
        np.zeros((9, 9, 3)),
        Keyed(picture(), key=None),
    ],
)
@pytest.mark.parametrize("method", ["predict", "predict_proba", "predict_many"])
def test_one_image_where_many_belong_is_an_error_that_says_so(clf, method, image):
    with pytest.raises(UsageError, match=r"takes many images.*\[image\]"):
        getattr(clf, method)(image)


def test_an_array_of_images_is_many_images(clf):
    assert clf.predict(np.stack([np.asarray(picture()), np.asarray(picture(GREEN))])).tolist() == ["red", "green"]


def test_threads_are_gone_when_a_stream_is_dropped(clf):
    before = threading.active_count()
    stream = clf.predict_many(picture() for _ in range(100))
    next(stream)
    stream.close()
    for thread in [t for t in threading.enumerate() if t.name.startswith("viewvote-prepare")]:
        thread.join(10)  # nobody waits for them, but they end by themselves
        assert not thread.is_alive()
    assert threading.active_count() <= before + 8  # the drawing pool stays
