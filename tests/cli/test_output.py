"""Predictions as text: every format on every kind of stream."""

import csv
import io
import json

import numpy as np
import pytest

from viewvote.cli.output import Writer
from viewvote.prediction import Prediction

LABELS = ("café", "日本", "cat", "dog")


def prediction(path="é.png"):
    return Prediction(
        labels=LABELS,
        index=1,
        probability=0.25,
        scores=np.array([0.25, 0.5, 0.125, 0.125], dtype=np.float32),
        votes=np.array([2, 4, 1, 1]),
        method="zero",
        model="toy",
        path=path,
    )


def written(fmt, *, encoding="utf-8", top=None):
    """The text that two predictions become on a stream of this encoding."""
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding, newline="")
    writer = Writer(stream, fmt, top=top, trace=False, width=20, fresh=True)
    writer.write(prediction())
    writer.write(prediction("b.png"))
    writer.close()
    return stream.buffer.getvalue().decode(encoding)


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1", "cp932"])
def test_json_says_the_same_in_every_encoding(encoding):
    rows = json.loads(written("json", encoding=encoding))
    assert rows == [json.loads(line) for line in written("jsonl", encoding=encoding).splitlines()]
    assert [row["path"] for row in rows] == ["é.png", "b.png"]
    assert rows[0]["label"] == "日本"
    assert set(rows[0]["scores"]) == set(LABELS)


def test_json_on_a_utf_8_stream_is_readable():
    assert '"label": "日本"' in written("jsonl")


def test_the_csv_is_flat_with_the_best_three():
    (row, _) = csv.DictReader(io.StringIO(written("csv")))
    assert (row["label"], row["probability"], row["vote_share"], row["votes"]) == ("日本", "0.25", "0.5", "4")
    assert (row["second_label"], row["second_probability"]) == ("café", "0.25")
    assert (row["third_label"], row["third_probability"]) == ("cat", "0.125")
    assert row["error"] == ""
    assert "label_4" not in row
    (row, _) = csv.DictReader(io.StringIO(written("csv", top=4)))
    assert (row["label_4"], row["probability_4"]) == ("dog", "0.125")


def test_json_has_every_label_unless_told_and_the_others_the_best_three():
    (row, _) = json.loads(written("json"))
    assert sum(row["votes"].values()) == 8
    (row, _) = json.loads(written("json", top=2))
    assert row["votes"] == {"日本": 4, "café": 2}
    assert written("table").splitlines()[1].endswith("日本  (café 25%, cat 12%)")
    assert written("table", top=1).splitlines()[1].endswith("日本")


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("a/photo.jpg", "a/photo.jpg         "),
        ("\u732b.jpg", "\u732b.jpg              "),  # a cat in Chinese takes two columns
        ("e\u0301.jpg", "e\u0301.jpg               "),  # an accent of its own takes none
        ("a/very/long/path/of.jpg", "…ry/long/path/of.jpg"),
        ("\u732b" * 12 + ".jpg", "…" + "\u732b" * 7 + ".jpg "),
    ],
)
def test_a_table_is_aligned_by_columns_of_the_terminal(path, shown):
    stream = io.StringIO()
    writer = Writer(stream, "table", top=None, trace=False, width=20, fresh=False)
    writer.write(prediction(path))
    line = stream.getvalue()
    assert line.startswith(shown + "     25%")
