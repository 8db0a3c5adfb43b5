"""What is taken for what, counted by hand."""

import numpy as np
import pytest

from tests.records.record_files import plain_record, write_records
from viewvote.errors import RecordError
from viewvote.metrics.confusion import Confused, class_rates, confusion_matrix, most_confused
from viewvote.records.columns import read_columns

# target, answer: two of three 0s right, one 1 right and two called 0, the only 3 called 2; no 2 at all
ANSWERS = [(0, 0), (0, 0), (0, 1), (1, 0), (1, 1), (1, 0), (3, 2)]


def columns(folder, answers=ANSWERS):
    records = [plain_record(str(i), target=t, index=a, top5=(a,)) for i, (t, a) in enumerate(answers)]
    write_records(folder / "records.jsonl", records)
    return read_columns(folder / "records.jsonl")


def test_rows_are_what_is_shown_and_columns_what_it_was_called(tmp_path):
    matrix = confusion_matrix(columns(tmp_path))
    np.testing.assert_array_equal(matrix, [[2, 1, 0, 0], [2, 1, 0, 0], [0, 0, 0, 0], [0, 0, 1, 0]])
    assert confusion_matrix(columns(tmp_path), n_classes=6).shape == (6, 6)


def test_every_class_with_an_image_has_its_rate(tmp_path):
    rates = class_rates(columns(tmp_path))
    assert {label: (rate.value, rate.n) for label, rate in rates.items()} == {0: (2 / 3, 3), 1: (1 / 3, 3), 3: (0, 1)}


def test_pairs_come_by_count_then_share(tmp_path):
    pairs = most_confused(confusion_matrix(columns(tmp_path)))
    assert pairs == [Confused(1, 0, 2, 2 / 3), Confused(3, 2, 1, 1.0), Confused(0, 1, 1, 1 / 3)]
    assert most_confused(confusion_matrix(columns(tmp_path)), most=1) == pairs[:1]
    assert most_confused(np.diag([3, 4])) == []


def test_a_class_that_there_is_not_is_an_error(tmp_path):
    with pytest.raises(RecordError, match="names class 3, but there are 3 classes"):
        confusion_matrix(columns(tmp_path), n_classes=3)
