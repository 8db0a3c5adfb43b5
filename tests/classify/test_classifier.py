"""The drop-in object: answers by hand on the toy encoder, labels of every kind, wrong arguments."""

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.conftest import Contrary, draw_photo
from tests.images.pictures import GREEN, RED, encoded, picture, same
from viewvote import Classifier, ImageLimits, LoadOptions, ToyEncoder
from viewvote.encoders.text_head import build_text_head
from viewvote.errors import ImageTooLargeError, UnknownNameError, UsageError
from viewvote.images.spec import ImageSpec
from viewvote.methods.zero import Zero


def two_thirds_red():
    pixels = np.zeros((60, 90, 3), np.uint8)
    pixels[:, :60] = RED
    pixels[:, 60:] = GREEN
    return Image.fromarray(pixels)


@pytest.fixture
def clf():
    return Classifier("toy", labels=["red", "green", "blue"], n_views=16)


def test_a_red_picture_is_red(clf):
    prediction = clf(picture())
    assert prediction.label == "red"
    assert prediction.vote_share == 1.0
    assert prediction.confidence == prediction.probability
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
    assert prediction.vote_share is None
    assert prediction.votes is None


def test_a_method_object_and_keep():
    assert Classifier("toy", labels=["red"], method=Zero(keep=1.0), n_views=8)(picture()).votes.sum() == 8
    assert Classifier("toy", labels=["red"], keep=0.5, n_views=8)(picture()).votes.sum() == 4
    with pytest.raises(UsageError, match="set it there"):
        Classifier("toy", labels=["red"], method=Zero(), keep=0.5)
    with pytest.raises(UsageError, match="takes no keep"):
        Classifier("toy", labels=["red"], method="zero-shot", keep=0.5)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (Zero, r"method is the class Zero; give an object of it: Zero\(\)"),
        (object(), "method is of type object; expected a name .*zero-shot.* or an object of a class that inherits"),
        (3, "method is of type int"),
        (ToyEncoder(), "method is of type ToyEncoder"),
    ],
)
def test_an_object_that_is_no_method_is_an_error_at_construction(wrong, message):
    with pytest.raises(UsageError, match=message):
        Classifier("toy", labels=["red"], method=wrong)


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
        ([], "there are no labels"),
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


def test_scikit_learn_shapes(clf):
    images = [picture(), picture(GREEN)]
    assert clf.predict(images).tolist() == ["red", "green"]
    assert clf.classes_.tolist() == ["red", "green", "blue"]
    probabilities = clf.predict_proba(images)
    assert probabilities.shape == (2, 3)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)


def test_a_real_photograph_runs(photos):
    path = sorted((photos / "eval" / "oxford_pets").rglob("*.jpg"))[0]
    prediction = Classifier("toy", labels=["red", "green", "blue"], n_views=64)(path)
    assert prediction.votes.sum() == 19
    assert prediction.path == str(path)


def test_squashing_models_see_the_whole_image():
    toy = ToyEncoder()
    toy.image_spec = ImageSpec(size=32, resize="squash")
    prediction = Classifier(toy, labels=["red", "green"], n_views=2)(io.BytesIO(encoded(two_thirds_red())))
    assert prediction.trace.views[0].box.to_list() == [0, 0, 90, 60]


def test_a_task_can_be_looked_at_between_rounds():
    clf = Classifier("toy", labels=["red", "green", "blue"], n_views=16)
    image = draw_photo(60, 40)
    task = clf.task(clf.prepare(image), ends=[8, 16])
    for seen in (8, 16):
        wanted = task.wanted
        task.receive(clf.encoder.encode_images(task.views(wanted.start, wanted.stop)), 0.0)
        shown, alone = task.preview(), Classifier("toy", labels=clf.labels, n_views=seen)(image)
        assert shown.to_dict(trace=True) | {"timings": {}} == alone.to_dict(trace=True) | {"timings": {}}
    assert task.answer.to_dict(trace=True) | {"timings": {}} == clf(image).to_dict(trace=True) | {"timings": {}}


def test_views_whose_features_are_known_are_not_drawn():
    clf = Classifier("toy", labels=["red", "green", "blue"], n_views="adaptive")
    image = draw_photo(60, 40)
    sample = clf.prepare(image, first=0)
    sample.known = 64
    sample.draw_ahead(8)
    assert sample.timings["render"] == 0
    sample.known = 4
    pixels = sample.draw(4, 8)
    assert np.array_equal(pixels, clf.prepare(image, first=8).pixels[4:])


def test_text_heads_may_come_from_elsewhere():
    asked = []

    def build(encoder, class_names, *, templates, cache_dir=None):
        asked.append((tuple(class_names), tuple(templates)))
        return build_text_head(encoder, class_names, templates=templates, cache_dir=cache_dir)

    clf = Classifier("toy", labels=["red", "green"], method="zero", templates="a {}", build_head=build)
    clf.with_labels(["blue"])
    assert asked == [(("red", "green"), ("a {}",)), (("blue",), ("a {}",))]


def test_labels_may_bring_texts_of_their_own():
    image = np.full((40, 40, 3), (0, 0, 250), dtype=np.uint8)
    clf = Classifier("toy", labels={"warm": ["red", "a green thing"], "cold": "blue"}, n_views=4)
    assert clf.labels == ("warm", "cold")
    assert clf(image).label == "cold"
    assert clf.with_labels({"sea": ["blue"], "sun": ["red", "green"]})(image).label == "sea"


def test_texts_of_their_own_are_nothing_for_a_method_that_tunes_the_prompt():
    pytest.importorskip("torch")
    with pytest.raises(UsageError, match="give the labels as a list"):
        Classifier("toy", labels={"warm": "a red thing"}, method="tpt")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("labels", 3),
        ("keep", "0.3"),
        ("keep", True),
        ("templates", 3),
        ("templates", ["a {}", 3]),
        ("abstain_below", "high"),
        ("calibration", 3),
        ("options", {"device": "cpu"}),
        ("limits", 10),
        ("cache_dir", 3),
        ("augment", ["crops"]),
        ("unique_labels", "no"),
        ("evidence", 1),
        ("detail", None),
        ("stop", 3),
        ("text_head", 3),
        ("build_head", "head"),
        ("n_views", 10**8),
        ("n_views", "64"),
        ("seed", "0"),
        ("method", 3),
        ("teacher", 3),
    ],
)
def test_an_argument_of_another_kind_is_a_usage_error_that_names_it(name, value):
    with pytest.raises(UsageError, match=name.removesuffix("s")):
        Classifier("toy", **{"labels": ["a", "b"], name: value})


def test_a_cache_folder_may_be_named_as_text(tmp_path):
    toy = Classifier("toy", labels=["a", "b"], method="zero", cache_dir=str(tmp_path / "cache"))
    assert toy.cache_dir == tmp_path / "cache"
    assert [path.parent.name for path in tmp_path.rglob("*.npy")] == ["text-heads"]


@pytest.mark.parametrize(
    "wrong", [{"device": 3}, {"threads": "all"}, {"threads": -1}, {"cache_dir": 3}, {"dtype": None}]
)
def test_options_of_another_kind_are_usage_errors(wrong):
    with pytest.raises(UsageError, match=next(iter(wrong))):
        LoadOptions(**wrong)
    assert LoadOptions(cache_dir="weights").cache_dir == Path("weights")
