"""Records as columns: what each line says, padded; cut-off lines are no records yet, wrong ones are errors."""

import numpy as np
import pytest

from tests.records.record_files import draw_logits, plain_record, voted_record, write_records
from viewvote.errors import RecordError
from viewvote.records.columns import TIMINGS, column_pieces, read_columns
from viewvote.records.record import failed_record
from viewvote.vote import TIE_RULES


@pytest.fixture
def records():
    rng = np.random.default_rng(1)
    voted = [voted_record(draw_logits(rng, views=v), key=f"{i}.jpg", target=i % 3) for i, v in enumerate([6, 6, 10, 3])]
    return [*voted, failed_record(OSError("gone"), key="gone.jpg", target=2), plain_record("p", target=1, index=1)]


def test_every_column_is_what_the_records_say(tmp_path, records):
    columns = read_columns(write_records(tmp_path / "records.jsonl", records))
    assert columns.keys == tuple(record.key for record in records)
    assert columns.labels.shape == (6, 10)
    for i, record in enumerate(records):
        assert columns.index[i] == (-1 if record.index is None else record.index)
        assert columns.correct[i] == bool(record.correct)
        assert columns.usable[i] == (record.error is None)
        assert columns.top5[i, : len(record.top5)].tolist() == list(record.top5)
        assert (columns.top5[i, len(record.top5) :] == -1).all()
        assert columns.rule[i] == (TIE_RULES.index(record.tie_break) if record.tie_break else -1)
        views = record.views.labels if record.views else ()
        assert columns.labels[i].tolist() == [*views, *[-1] * (10 - len(views))]
        assert columns.kept[i].tolist() == [*(record.views.kept if record.views else ()), *[False] * (10 - len(views))]
        assert np.isnan(columns.entropy[i]).sum() == 10 - len(views)
    assert columns.entropy[0, :6].tolist() == records[0].views.entropy.tolist()
    assert np.isnan(columns.confidence[4])
    assert columns.seconds[0].tolist() == [records[0].timings[name] for name in TIMINGS]
    assert np.isnan(columns.seconds[4]).all()


def test_pieces_are_the_same_records_with_the_evidence_of_ties(tmp_path, records):
    path = write_records(tmp_path / "records.jsonl", records)
    pieces = list(column_pieces(path, size=4))
    assert [len(piece) for piece in pieces] == [4, 2]
    assert sum((piece.keys for piece in pieces), ()) == read_columns(path).keys
    classes, logits = pieces[0].evidence[2].logits()
    assert classes.tolist() == list(records[2].candidates)
    assert logits.shape == (10, len(classes))
    assert logits.argmax(axis=1).tolist() == [list(classes).index(c) for c in records[2].views.labels]
    assert pieces[0].evidence[2].groups("group-marginal").shape == (10,)


def test_without_views_the_answers_are_the_same(tmp_path, records):
    tricky = plain_record('a,"views":1,"tie_draw":2', target=1, index=0)
    path = write_records(tmp_path / "records.jsonl", [*records, tricky])
    full, brief = read_columns(path), read_columns(path, views=False)
    assert brief.keys == full.keys
    for name in ("target", "index", "confidence", "probability", "rule", "top5", "views_used", "tie_draw", "seconds"):
        np.testing.assert_array_equal(getattr(brief, name), getattr(full, name))
    assert brief.labels.shape == (7, 0)
    path.write_text('{"key": "a"}\n')
    with pytest.raises(RecordError, match="is not a file of records"):
        read_columns(path, views=False)


def test_the_answers_of_a_cascade_are_read_without_its_views(tmp_path):
    rng = np.random.default_rng(4)
    logits, teacher = (draw_logits(rng, views=8) for _ in range(2))
    path = write_records(tmp_path / "records.jsonl", [voted_record(logits, teacher=teacher)])
    full, brief = read_columns(path), read_columns(path, views=False)
    assert (full.teacher_labels >= 0).sum() == 2  # int(8 * 0.3) views were kept
    assert brief.teacher_labels.shape == (1, 0)
    np.testing.assert_array_equal(brief.index, full.index)


def test_files_of_many_pieces_are_joined_and_padded(tmp_path):
    rng = np.random.default_rng(2)
    lines = [voted_record(draw_logits(rng, views=2 + i // 3000), key=str(i)) for i in (0, 3000)]
    many = [*[plain_record(str(i), target=0, index=0) for i in range(3000)], *[lines[1]]]
    columns = read_columns(write_records(tmp_path / "records.jsonl", [lines[0], *many[1:]]))
    assert len(columns) == 3001
    assert columns.labels.shape == (3001, 3)
    assert columns.labels[0, 2] == -1


def test_a_cut_off_last_line_is_not_yet_a_record(tmp_path, records):
    path = write_records(tmp_path / "records.jsonl", records)
    whole = path.read_bytes()
    for cut in (1, 30, 400):
        path.write_bytes(whole[:-cut])
        assert read_columns(path).keys == tuple(record.key for record in records[:-1])


def test_an_empty_file_has_no_records(tmp_path):
    columns = read_columns(write_records(tmp_path / "records.jsonl", []))
    assert len(columns) == 0
    assert columns.labels.shape == (0, 0)


def test_some_rows_can_be_taken(tmp_path, records):
    piece = next(column_pieces(write_records(tmp_path / "records.jsonl", records)))
    taken = piece.take(np.array([3, 1]))
    assert taken.keys == ("3.jpg", "1.jpg")
    assert taken.labels.tolist() == piece.labels[[3, 1]].tolist()
    assert taken.evidence == (piece.evidence[3], piece.evidence[1])
    assert piece.take(piece.usable).keys == tuple(record.key for record in records if record.error is None)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "line 2 is not valid JSON"),
        ("[1]", "line 2 is not a record"),
        ('{"key": "a"}', "is not a file of records"),
        ("DUPLICATE", "more than once"),
    ],
)
def test_what_is_no_record_is_an_error_that_names_the_file(tmp_path, records, line, message):
    path = write_records(tmp_path / "records.jsonl", records[:1])
    text = path.read_text()
    path.write_text(text + (text if line == "DUPLICATE" else line + "\n"))
    with pytest.raises(RecordError, match=message) as caught:
        read_columns(path)
    assert "records.jsonl" in str(caught.value)


def test_a_missing_file_says_what_was_expected(tmp_path):
    with pytest.raises(RecordError, match="A run's folder has"):
        read_columns(tmp_path / "records.jsonl")
