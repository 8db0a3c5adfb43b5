"""How alike labels are: by hand, against the naive mean, and on the embedded model's scale."""

import numpy as np
import pytest

from viewvote import ToyEncoder, load_encoder
from viewvote.encoders.base import unit_rows
from viewvote.encoders.likeness import label_likeness, mean_cosine, relative_likeness
from viewvote.encoders.text_head import build_text_head
from viewvote.labels.ordinary import ORDINARY_NAMES

PHOTO = ["a photo of a {}."]


def test_the_mean_cosine_is_that_of_all_pairs():
    rows = unit_rows(np.random.default_rng(0).normal(size=(7, 5)).astype(np.float32))
    pairs = [float(rows[i] @ rows[j]) for i in range(7) for j in range(i)]
    assert mean_cosine(rows) == pytest.approx(np.mean(pairs), abs=1e-6)
    assert mean_cosine(rows[:1]) == 0


def test_ordinary_names_have_none_and_equal_texts_all():
    assert relative_likeness(0.52, 0.52) == 0
    assert relative_likeness(0.3, 0.52) == 0
    assert relative_likeness(0.76, 0.52) == pytest.approx(0.5)
    assert relative_likeness(1.0, 0.52) == 1
    assert relative_likeness(1 + 1e-6, 0.52) == 1
    assert relative_likeness(0.9, 1.0) == 0


def test_ordinary_names_are_many_and_all_different():
    assert len(set(ORDINARY_NAMES)) == len(ORDINARY_NAMES) == 63


def test_labels_that_share_their_words_are_more_alike_to_the_embedded_model(tmp_path):
    encoder = load_encoder("pocket")

    def likeness(labels):
        head = build_text_head(encoder, labels, templates=PHOTO, cache_dir=tmp_path)
        return label_likeness(encoder, head, templates=PHOTO, cache_dir=tmp_path)

    assert likeness(ORDINARY_NAMES) == 0
    cars = [f"2012 Audi {name} sedan" for name in ("A4", "A6", "S5", "TT")]
    assert likeness(["cat", "rocket", "coffee cup"]) < 0.2 < likeness(cars) < 1


def test_the_ordinary_names_are_encoded_once(tmp_path):
    texts = []

    class Counting(ToyEncoder):
        def encode_texts(self, asked):
            texts.extend(asked)
            return super().encode_texts(asked)

    encoder = Counting()
    head = build_text_head(encoder, ["red", "green"], templates=PHOTO, cache_dir=tmp_path)
    first = label_likeness(encoder, head, templates=PHOTO, cache_dir=tmp_path)
    assert len(texts) == 2 + len(ORDINARY_NAMES)
    assert label_likeness(encoder, head, templates=PHOTO, cache_dir=tmp_path) == first
    assert len(texts) == 2 + len(ORDINARY_NAMES)
