"""Values of files: what they must be is stated in the error, and no value of JSON is anything else than an error."""

from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from viewvote.errors import RecordError, UsageError
from viewvote.fields import (
    NUMBER,
    POSITIVE,
    SHARE,
    TABLE,
    TEXT,
    TRUTH,
    Fields,
    list_of,
    one_of,
    or_null,
    shown,
    table_of,
    whole,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
KINDS = [TEXT, NUMBER, POSITIVE, SHARE, TRUTH, TABLE, whole(0), one_of(Literal["a", "b"]), or_null(NUMBER)]
KINDS += [list_of(NUMBER, length=3), table_of(table_of(whole(1)))]


@given(JSON, st.sampled_from(KINDS))
def test_any_value_is_accepted_or_the_error_names_the_file_the_key_and_what_was_expected(value, kind):
    read = Fields({"k": value}, "a.json", error=RecordError)
    if kind.accepts(value):
        read("k", kind)
        return
    with pytest.raises(RecordError) as caught:
        read("k", kind)
    assert str(caught.value) == f"a.json: 'k' is {shown(value)}, expected {kind.expected}."
    assert len(str(caught.value)) < 2000


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        (TEXT, ["a", " "], ["", 1, None, "\ud800", ["a"]]),
        (NUMBER, [0, -1.5, 10**15], [True, "1", None, float("nan"), float("inf"), 10**30, 10**400]),
        (POSITIVE, [0.1, 3], [0, -1]),
        (SHARE, [1, 0.5], [0, 1.01]),
        (whole(1, most=5), [1, 5], [0, 6, 1.0, True, "2", None]),
        (one_of(Literal["a", "b"]), ["a"], ["c", None, [], {}]),
        (or_null(whole(1)), [None, 1], [0]),
        (list_of(or_null(NUMBER)), [[], [1, None]], [["a"], "ab", None, {}]),
        (list_of(NUMBER, length=2), [[1, 2]], [[1], [1, 2, 3]]),
        (table_of(NUMBER), [{}, {"a": 1}], [{"a": None}, []]),
    ],
    ids=lambda one: getattr(one, "expected", None),
)
def test_what_a_kind_accepts(kind, good, bad):
    assert all(kind.accepts(value) for value in good)
    assert not any(kind.accepts(value) for value in bad)


def test_a_missing_key_is_named_unless_it_has_a_default():
    read = Fields({"n": None}, "a.json", error=UsageError)
    with pytest.raises(UsageError, match=r"a\.json: 'm' is missing, expected a number\."):
        read("m", NUMBER)
    assert read("m", NUMBER, default=3.0) == 3.0
    assert read.optional("n", NUMBER) is None
    with pytest.raises(UsageError, match="'n' is None, expected a number"):
        read("n", NUMBER)


def test_objects_of_a_list_name_their_place():
    read = Fields({"rows": [{"n": 1}, {"n": "x"}]}, "a.json", error=UsageError)
    first, second = read.objects("rows")
    assert first("n", whole(1)) == 1
    with pytest.raises(UsageError, match=r"a\.json: rows\[1\]: 'n' is 'x'"):
        second("n", whole(1))


def test_what_is_no_object_and_keys_that_nobody_reads_are_errors():
    with pytest.raises(UsageError, match=r"a\.json is \[1\], expected an object"):
        Fields([1], "a.json", error=UsageError)
    with pytest.raises(UsageError, match="'x' is not a key of it; expected n"):
        Fields({"x": 1}, "a.json", error=UsageError).check_keys(["n"])


def test_a_value_is_shown_in_few_words_however_long_or_deep_it_is():
    deep: list[object] = []
    for _ in range(900):
        deep = [deep]
    for value in (deep, "a" * 10**6, list(range(10**5)), 10**4000, {str(i): "x" * 1000 for i in range(1000)}):
        assert len(shown(value)) < 1000
