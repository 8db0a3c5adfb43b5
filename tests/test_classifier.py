"""The drop-in object: answers by hand on the toy encoder, streams, labels of every kind, wrong arguments."""

import io
import threading
import weakref
from pathlib import Path

import numpy as np
import pytest
from conftest import Contrary, draw_photo
from PIL import Image

from viewvote import Classifier, ImageLimits, ToyEncoder, ViewvoteError
from viewvote.errors import ImageTooLargeError, NonFiniteError, UnknownNameError, UnreadableImageError, UsageError
from viewvote.methods.zero import Zero
from viewvote.samples import Keyed
from viewvote.types import ImageSpec

RED, GREEN = (250, 0, 0), (0, 250, 0)


def picture(colour=RED, size=(40, 30)):
    return Image.new("RGB", size, colour)


def two_thirds_red():
    pixels = np.zeros((60, 90, 3), np.uint8)
    pixels[:, :60] = RED
    pixels[:, 60:] = GREEN
    return Image.fromarray(pixels)


@pytest.fixture
def clf():
    return Classifier("toy", labels=["red", "green", "blue"], n_views=16)


def same(a, b):
    left, right = a.to_dict(trace=True), b.to_dict(trace=True)
    for one in (left, right):
        one.pop("timings")
        one.pop("path")
    return left == right


def test_a_red_picture_is_red(clf):
    prediction = clf(picture())
    assert prediction.label == "red"
    assert prediction.confidence == 1.0
    assert prediction.confidence_is == "vote share"
    assert prediction.votes.tolist() == [4, 0, 0]  # int(16 * 0.3)
    assert len(prediction.trace.views) == 16
    assert len(prediction.kept) == 4
    assert set(prediction.timings) == {"read", "render", "encode", "decide", "total"}


def test_path_bytes_file_pil_and_array(clf, tmp_path):
    path = tmp_path / "p.png"
    two_thirds_red().save(path)
    by_path, by_str = clf(path), clf(str(path))
    assert by_path.path == str(path)
    with path.open("rb") as file:
        assert same(by_path, clf(file))
    assert same(by_path, clf(path.read_bytes()))
    assert same(by_path, by_str)
    assert same(clf(two_thirds_red()), clf(np.asarray(two_thirds_red())))


def test_seed_and_content_decide_the_views_and_nothing_else(clf):
    boxes = [v.box for v in clf(two_thirds_red()).trace.views]
    assert boxes == [v.box for v in clf(two_thirds_red()).trace.views]
    other = Classifier("toy", labels=["red", "green", "blue"], n_views=16, seed=1)(two_thirds_red())
    assert boxes != [v.box for v in other.trace.views]


def test_an_encoder_object_can_be_given():
    assert Classifier(ToyEncoder(size=16), labels=["red", "green"], n_views=4)(picture(GREEN)).label == "green"


def test_zero_shot_looks_at_one_view():
    prediction = Classifier("toy", labels=["red", "green"], method="zero-shot")(two_thirds_red())
    assert len(prediction.trace.views) == 1
    assert prediction.confidence_is == "probability"
    assert prediction.votes is None


def test_a_method_object_and_keep():
    assert Classifier("toy", labels=["red"], method=Zero(keep=1.0), n_views=8)(picture()).votes.sum() == 8
    assert Classifier("toy", labels=["red"], keep=0.5, n_views=8)(picture()).votes.sum() == 4
    with pytest.raises(UsageError, match="set it there"):
        Classifier("toy", labels=["red"], method=Zero(), keep=0.5)
    with pytest.raises(UsageError, match="takes no keep"):
        Classifier("toy", labels=["red"], method="zero-shot", keep=0.5)


def test_random_ties_are_repeatable():
    make = lambda: Classifier("toy", labels=["red", "green"], method=Zero(keep=1.0, tie="random"), n_views=4)  # noqa: E731
    images = [draw_photo(60, 40, seed=i) for i in range(10)]
    assert [make()(i).label for i in images] == [make()(i).label for i in images]


def test_abstaining():
    clf = Classifier("toy", labels=["red", "green"], n_views=32, keep=1.0, abstain_below=0.99)
    assert clf(picture()).label == "red"
    unsure = clf(two_thirds_red())
    assert unsure.confidence < 0.99
    assert unsure.label is None
    assert clf.predict([picture(), two_thirds_red()]).tolist() == ["red", None]


def test_the_teacher_votes_in_a_cascade():
    teacher = Contrary()
    clf = Classifier("toy", labels=["red", "green"], teacher=teacher, n_views=16)
    prediction = clf(picture())
    assert prediction.label == "green"
    assert prediction.model == "toy -> contrary"
    assert teacher.seen == [(4, 8, 8, 3)]  # only the kept views, drawn at the teacher's size
    same_size = Classifier(ToyEncoder(), labels=["red", "green"], teacher=ToyEncoder(), n_views=16)
    assert same_size(picture()).label == "red"


def test_a_teacher_needs_a_method_that_asks_it():
    with pytest.raises(UsageError, match="'zero-shot' asks no teacher"):
        Classifier("toy", labels=["red"], method="zero-shot", teacher="toy")


# ---------------------------------------------------------------- labels


def test_one_label_always_wins():
    assert Classifier("toy", labels=["red"], n_views=4)(picture(GREEN)).confidence == 1.0


def test_labels_with_braces_unicode_and_underscores_come_back_unchanged():
    labels = ["{}", "{red}", "röd 猫", "green_apple", "%s", "a" * 300]
    clf = Classifier("toy", labels=labels, n_views=4)
    assert clf(picture(GREEN)).label == "green_apple"
    assert set(clf(picture()).to_dict()["scores"]) == set(labels)


def test_ten_thousand_labels():
    labels = [f"thing {i}" for i in range(9_999)] + ["red"]
    prediction = Classifier("toy", labels=labels, n_views=8)(picture())
    assert prediction.label == "red"
    assert len(prediction.to_dict(top=5)["scores"]) == 5


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([], "labels is empty"),
        ("cat", r"Did you mean \['cat'\]"),
        (["cat", "cat"], "'cat' is given twice"),
        (["cat", ""], "label 1 is ''"),
        (["cat", "  "], "label 1"),
        (["cat", 7], "label 1 is 7"),
        (["cat", "caf\udce9"], "label 1 is not text"),
    ],
)
def test_wrong_labels_are_errors(labels, message):
    with pytest.raises(UsageError, match=message):
        Classifier("toy", labels=labels)


@pytest.mark.parametrize(
    "wrong",
    [
        {"n_views": 0},
        {"n_views": 2.5},
        {"n_views": True},
        {"seed": "x"},
        {"seed": 1.7},
        {"keep": 0},
        {"keep": 1.1},
        {"abstain_below": 2},
        {"templates": []},
    ],
)
def test_wrong_arguments_are_errors(wrong):
    with pytest.raises(UsageError):
        Classifier("toy", labels=["red"], **wrong)


def test_whole_numbers_of_numpy_are_whole_numbers(clf):
    ours = Classifier("toy", labels=clf.labels, n_views=np.int64(16), seed=np.uint8(0))
    assert same(ours(draw_photo(50, 40)), clf(draw_photo(50, 40)))
    assert next(ours.predict_many([picture()], batch_views=np.int32(16))).label == "red"


def test_unknown_names_are_errors():
    with pytest.raises(UnknownNameError, match="Did you mean 'zero'"):
        Classifier("toy", labels=["red"], method="zeroo")
    with pytest.raises(UnknownNameError, match="Did you mean 'toy'"):
        Classifier("tov", labels=["red"])


def test_limits_are_obeyed():
    with pytest.raises(ImageTooLargeError):
        Classifier("toy", labels=["red"], limits=ImageLimits(max_pixels=100))(picture())
    higher = Classifier("toy", labels=["red"], limits=ImageLimits(max_bytes=10**9, max_pixels=10**9))
    assert [p.label for p in higher.predict_many([picture()])] == ["red"]
    lower = Classifier("toy", labels=["red"], limits=ImageLimits(max_pixels=100))
    (error,) = lower.predict_many([picture()], on_error="return")
    assert isinstance(error, ImageTooLargeError)


def test_other_labels_share_the_model(clf):
    other = clf.with_labels(["yellow", "magenta"])
    assert other.encoder is clf.encoder
    assert other(picture((250, 250, 0))).label == "yellow"
    assert clf(picture()).label == "red"


# ---------------------------------------------------------------- many images


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


COLOURS = [RED, GREEN, (0, 0, 250)] * 4


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
    buffer = bytearray(len(_bmp(RED)))
    for colour in COLOURS:
        buffer[:] = _bmp(colour)
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
        path.write_bytes(_bmp(colour))
    found = [prediction.label for prediction in clf.predict_many(stream(paths), batch_views=48)]
    assert found == ["red", "green", "blue"] * 4


@pytest.mark.parametrize("on_error", ["raise", "return"])
def test_a_file_that_was_closed_before_is_the_error_of_one_image(clf, tmp_path, on_error):
    path = tmp_path / "shut.png"
    path.write_bytes(_png(picture()))
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
    assert not [t for t in threading.enumerate() if t.name.startswith("viewvote-prepare")]
    assert threading.active_count() <= before + 8  # the drawing pool stays


def test_scikit_learn_shapes(clf):
    images = [picture(), picture(GREEN)]
    assert clf.predict(images).tolist() == ["red", "green"]
    assert clf.classes_.tolist() == ["red", "green", "blue"]
    probabilities = clf.predict_proba(images)
    assert probabilities.shape == (2, 3)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)


def test_a_real_photograph_runs(photos):
    path = sorted((photos / "eval" / "oxford_pets").rglob("*.jpg"))[0]
    prediction = Classifier("toy", labels=["red", "green", "blue"])(path)
    assert prediction.votes.sum() == 19
    assert prediction.path == str(path)


def test_squashing_models_see_the_whole_image():
    toy = ToyEncoder()
    toy.image_spec = ImageSpec(size=32, resize="squash")
    prediction = Classifier(toy, labels=["red", "green"], n_views=2)(io.BytesIO(_png(two_thirds_red())))
    assert prediction.trace.views[0].box.to_list() == [0, 0, 90, 60]


def _bmp(colour):
    out = io.BytesIO()
    picture(colour).save(out, "BMP")
    return out.getvalue()


def _png(image):
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()
