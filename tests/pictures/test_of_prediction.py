"""Explanations by the prediction itself, in files and in notebooks."""

import io
import pickle
import re
from base64 import b64decode
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

import viewvote
from tests.conftest import draw_photo
from viewvote import Classifier, UsageError
from viewvote.pictures.explain import explain


@pytest.fixture
def clf():
    return Classifier("toy", labels=["red", "green", "<b>blue</b> & co"], n_views=8)


@pytest.fixture
def photo(tmp_path):
    draw_photo(90, 60).save(tmp_path / "photo.png")
    return tmp_path / "photo.png"


def same_picture(one, other):
    return np.array_equal(np.asarray(one), np.asarray(other))


def test_explain_is_public():
    assert viewvote.explain is explain


def test_the_image_is_found_by_its_path(clf, photo):
    expected = explain(photo, clf(photo))
    assert same_picture(clf(photo).explain(), expected)
    (prediction,) = clf.predict_many([str(photo)])
    assert same_picture(prediction.explain(), expected)


@pytest.mark.parametrize("kind", [Image.fromarray, np.array])
def test_an_object_is_found_while_it_lives_and_is_not_kept_alive(clf, photo, kind):
    image = kind(np.asarray(Image.open(photo)))
    prediction = clf(image)
    expected = explain(photo, prediction)
    assert same_picture(prediction.explain(), expected)
    del image
    with pytest.raises(UsageError, match=r"prediction\.explain\(image\)"):
        prediction.explain()
    assert same_picture(prediction.explain(photo), expected)


def test_bytes_streams_and_copies_elsewhere_need_the_image(clf, photo):
    data = photo.read_bytes()
    image = np.asarray(draw_photo(90, 60))
    for prediction in (clf(data), clf(io.BytesIO(data)), pickle.loads(pickle.dumps(clf(image)))):
        with pytest.raises(UsageError, match="not at hand"):
            prediction.explain()
        assert same_picture(prediction.explain(data), explain(photo, prediction))


@pytest.mark.parametrize(("name", "kind"), [("why.png", "PNG"), ("why.webp", "WEBP"), ("WHY.JPG", "JPEG")])
def test_an_explanation_is_saved_in_the_format_of_its_name(clf, photo, tmp_path, name, kind):
    saved = clf(photo).save_explanation(tmp_path / name)
    with Image.open(saved) as picture:
        assert picture.format == kind
        assert picture.size == clf(photo).explain().size


def test_other_endings_and_places_are_usage_errors(clf, photo, tmp_path):
    with pytest.raises(UsageError, match=r"ends in \.png, \.webp, \.jpg"):
        clf(photo).save_explanation(tmp_path / "why.txt")
    with pytest.raises(UsageError, match="cannot write"):
        clf(photo).save_explanation(tmp_path / "nowhere" / "why.png")


def test_a_notebook_shows_the_picture_by_itself(clf, photo):
    html = clf(photo)._repr_html_()
    (data,) = re.findall(r'src="data:image/webp;base64,([^"]+)"', html)
    with Image.open(io.BytesIO(b64decode(data))) as picture:
        assert picture.width == 960
    assert len(html) < 200_000
    assert "http" not in html
    assert "likely" in html


def test_without_the_image_a_notebook_shows_a_table_of_labels(clf):
    html = clf(draw_photo(40, 30))._repr_html_()
    assert "<img" not in html
    assert html.count("<tr>") == 3
    assert "&lt;b&gt;blue&lt;/b&gt; &amp; co" in html
    assert "<b>blue" not in html


def test_an_abstained_answer_is_shown_without_a_label(clf, photo):
    shown = replace(clf(photo), abstained=True)
    assert "no label: " in shown._repr_html_()
    assert repr(shown).startswith("Prediction(no label, perhaps '")
