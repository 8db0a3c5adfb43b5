"""Cells of a table: harmless to a spreadsheet, and read back as they were."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from viewvote.cli.flat_csv import columns, error_row, labels_of, line, read_rows, whole_rows


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("=1+1", "'=1+1"),
        ("+1", "'+1"),
        ("-", "'-"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\tx", "'\tx"),
        ("\rx", "'\rx"),
        ("'=x", "''=x"),
        ("'tis", "'tis"),
        ("a=b", "a=b"),
        ("", ""),
    ],
)
def test_formulas_are_defused(text, cell):
    (row,) = csv.reader(io.StringIO(line([text, -1, -0.5]), newline=""))
    assert row == [cell, "-1", "-0.5"]  # numbers are numbers


def test_a_row_of_an_error_has_the_path_and_the_reason():
    row = dict(zip(columns(2), error_row("a.png", "broken", top=2), strict=True))
    assert {name: value for name, value in row.items() if value is not None} == {"path": "a.png", "error": "broken"}


def test_another_table_is_refused():
    with pytest.raises(ValueError, match="its columns are a, b"):
        read_rows("a,b\n1,2\n", top=3)
    with pytest.raises(ValueError, match="another --top"):
        read_rows(f"{line(columns(2))}\n", top=3)
    with pytest.raises(ValueError, match="zip"):
        read_rows(f"{line(columns(2))}\nx,y\n", top=2)
    assert read_rows("", top=3) == []


cells = st.text(st.characters(codec="utf-8"), max_size=8) | st.sampled_from(["=x", "'-", '"', "\n", "\r\n", ",", "''@"])


@given(st.lists(st.tuples(cells, cells), max_size=5), st.data())
def test_rows_survive_writing_and_any_cut_leaves_the_whole_ones(pairs, data):
    rows = [error_row(path, message, top=2) for path, message in pairs]
    whole = "".join(f"{line(row)}\n" for row in [columns(2), *rows]).encode()
    cut = whole[: data.draw(st.integers(0, len(whole)))]
    kept = whole_rows(cut)
    assert whole.startswith(kept)
    found = [(row["path"], row["error"]) for row in read_rows(kept.decode(), top=2)]
    assert found == pairs[: len(found)]
    assert not any(labels_of(row, top=2) for row in read_rows(kept.decode(), top=2))
    assert len(cut) < len(whole) or found == pairs
