"""Names of the pictures of why, and what the page remembers."""

import json

import numpy as np
import pytest
from PIL import Image

from viewvote import Classifier
from viewvote.cli.explanations import Explainer
from viewvote.errors import UsageError


@pytest.fixture
def photo(tmp_path):
    Image.fromarray(np.full((20, 30, 3), (250, 0, 0), dtype=np.uint8)).save(tmp_path / "photo.png")
    return str(tmp_path / "photo.png")


def test_names_differ_and_none_is_too_long(tmp_path):
    explainer = Explainer(tmp_path / "why", ["a/x.jpg", "b/X.png", "c/" + "日" * 84 + ".jpg"])
    explainer.add(["a/x.jpg", "d/x.gif"])
    names = [*explainer._names.values()]
    assert names[:2] == ["x.webp", "X-2.webp"]
    assert names[3] == "x-3.webp"
    assert len(names[2].encode("utf-8", "surrogateescape")) < 255


def test_another_run_in_the_folder_starts_a_new_page_and_a_resumed_one_goes_on(tmp_path, photo):
    prediction = Classifier("toy", labels=["red", "green"], n_views=2)(photo)
    for resume, images in ((False, 1), (True, 1), (False, 0), (True, 0)):
        explainer = Explainer(tmp_path / "why", [photo], resume=resume, overwrite=not resume)
        if images and not resume:
            explainer.write(photo, prediction)
        explainer.write_page()
        assert (tmp_path / "why" / "index.html").read_text().count("<li ") == images


def test_a_page_that_is_there_is_not_replaced_unasked(tmp_path, photo):
    Explainer(tmp_path / "why", [photo]).write_page()
    before = (tmp_path / "why" / "index.html").read_bytes()
    with pytest.raises(UsageError, match="Replace it with --overwrite"):
        Explainer(tmp_path / "why", [photo])
    assert (tmp_path / "why" / "index.html").read_bytes() == before


def test_notes_that_are_damaged_are_left_out(tmp_path, photo):
    prediction = Classifier("toy", labels=["red", "green"], n_views=2)(photo)
    explainer = Explainer(tmp_path / "why", [photo])
    explainer.write(photo, prediction)
    with (tmp_path / "why" / "gallery.jsonl").open("a") as file:
        row = json.loads((tmp_path / "why" / "gallery.jsonl").read_text())
        for wrong in (
            {"picture": 3},
            {"label": 3},
            {"path": None},
            {"votes": []},
            {"picture": "\ud800"},
            {"label": "\ud800"},
        ):
            file.write(json.dumps({**row, "picture": "b.webp", **wrong}) + "\n")
        file.write("[" * 100_000 + '\n[]\n{"picture": "x"}\n{"picture": 1, "cut')
    explainer = Explainer(tmp_path / "why", [photo], resume=True)
    explainer.write_page()
    assert (tmp_path / "why" / "index.html").read_text().count("<li ") == 1


def test_standard_input_cannot_be_explained(tmp_path):
    with pytest.raises(UsageError, match="--explain needs a file"):
        Explainer(tmp_path / "why", ["-"])
    assert not (tmp_path / "why").exists()
