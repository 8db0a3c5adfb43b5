"""The restricted pickle reader: plain values come through, nothing is imported or called, malformed is ValueError."""

import io
import os
import pickle
import sys
from collections import OrderedDict
from contextlib import suppress
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from viewvote.encoders.checkpoints import safe_pickle
from viewvote.encoders.checkpoints.safe_pickle import OPAQUE, Global, read_pickle


def read(data: bytes, *, call=lambda function, args: OPAQUE):
    return read_pickle(io.BytesIO(data), call=call, persistent_load=lambda pid: ("pid", pid))


plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=["Cs"]))
    | st.binary(),
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text("ab"), inner),
    max_leaves=20,
)


@given(plain, st.integers(3, pickle.HIGHEST_PROTOCOL))
def test_plain_values_come_back_as_they_were(value, protocol):
    assert read(pickle.dumps(value, protocol)) == value


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_every_protocol_is_read(protocol):
    shared = [1, -2, 3.5, "naïve\n", True, None, 2**70]
    value = {"a": shared, "b": (shared, ()), 7: {}, "c": [(1,), (1, 2), (1, 2, 3), (1, 2, 3, 4)]}
    assert read(pickle.dumps(value, protocol)) == value


def test_a_value_stored_once_stays_one_object():
    shared: list[int] = []
    first, second = read(pickle.dumps([shared, shared]))
    assert first is second


class Hostile:
    """Runs what it is given when unpickled."""

    def __init__(self, function, *args):
        self.call = (function, args)

    def __reduce__(self):
        return self.call


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickled_call_is_never_made(tmp_path, protocol):
    marker = tmp_path / "ran"
    data = pickle.dumps({"x": Hostile(os.mkdir, str(marker)), "y": 1}, protocol)
    assert read(data) == {"x": OPAQUE, "y": 1}
    assert not marker.exists()
    pickle.loads(data)
    assert marker.exists()  # the attack is real


@pytest.mark.parametrize(
    "program",
    [
        b"cbooby_trap\nfire\n(tR.",  # GLOBAL, REDUCE
        b"\x8c\x0abooby_trap\x8c\x04fire\x93)\x81.",  # STACK_GLOBAL, NEWOBJ
        b"cbooby_trap\nfire\n)}\x92.",  # NEWOBJ_EX
        b"(ibooby_trap\nfire\n.",  # INST
        b"(cbooby_trap\nfire\no.",  # OBJ
        b"cbooby_trap\nfire\n)\x81}b.",  # BUILD
    ],
)
def test_a_module_named_in_the_pickle_is_never_imported(tmp_path, monkeypatch, program):
    (tmp_path / "booby_trap.py").write_text("def fire(*args, **kwargs):\n    return args\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert read(program) is OPAQUE
    assert "booby_trap" not in sys.modules


def test_the_caller_decides_what_a_name_builds():
    def call(function, args):
        return {} if function == Global("collections", "OrderedDict") else OPAQUE

    value = OrderedDict(a=1, when=date(2020, 1, 2), kinds={1, 2}, frozen=frozenset({3}))
    read_back = read(pickle.dumps(value, 4), call=call)
    assert read_back == {"a": 1, "when": OPAQUE, "kinds": OPAQUE, "frozen": OPAQUE}


def test_items_of_an_object_that_was_not_built_are_dropped():
    class_with_items = b"cfoo\nBag\n)\x81(K\x01K\x02e(K\x01K\x02uK\x03K\x04sK\x05a(K\x06\x90."
    assert read(class_with_items) is OPAQUE


def test_persistent_ids_go_to_the_caller():
    assert read(b"\x8c\x03key\x85Q.") == ("pid", ("key",))


def test_a_key_that_is_slow_to_hash_is_dropped():
    nest = b")" + b"2\x86" * 22  # hashing this tuple would visit 2**22 others
    assert read(b"}" + nest + b"K\x01s" + b"K\x02K\x03s.") == {2: 3}
    giant = b"\x8b\x00\x01\x00\x00" + b"\x7f" * 256
    assert read(b"}" + giant + b"K\x01s.") == {}


@pytest.mark.parametrize(
    ("program", "complaint"),
    [
        (b".", "empty stack"),
        (b"K\x01R.", "empty stack"),
        (b"K\x01t.", "never set"),
        (b"h\x05.", "before storing"),
        (b"K\x01K\x02a.", "appends to a int"),
        (b"](K\x01K\x02u.", "2 keys and values on a list"),
        (b"}(K\x01u.", "1 keys and values on a dict"),
        (b"K\x01K\x02\x93.", "not text"),
        (b"Pfoo\n.", "PERSID"),
        (b"\x82\x01.", "EXT1"),
        (b"\xff.", "unknown"),
        (b"K\x01", "exhausted"),
        (b"X\xff\xff\xff\x7fabc.", "expected 2147483647 bytes"),
        (b"\x8e\xff\xff\xff\xff\xff\xff\xff\x00abc.", "expected"),
    ],
)
def test_a_malformed_pickle_is_a_value_error(program, complaint):
    with pytest.raises(ValueError, match=complaint):
        read(program)


def test_an_endless_pickle_is_refused(monkeypatch):
    monkeypatch.setattr(safe_pickle, "MAX_INSTRUCTIONS", 100)
    assert read(b"N0" * 49 + b"N.") is None
    with pytest.raises(ValueError, match="more than 100 instructions"):
        read(b"N0" * 50 + b"N.")


def test_a_stray_backslash_in_a_name_warns_nobody():
    assert read(b"cfoo\\i\nbar\n.") == Global("foo\\i", "bar")


def test_a_huge_memo_index_costs_nothing():
    assert read(b"Nr\xff\xff\xff\xff.") is None


SAMPLE = pickle.dumps({"a": [1, (2.5, "x"), {3}], "b": date(2020, 1, 2), "c": OrderedDict(d=b"e")}, 2)


@settings(max_examples=400)
@given(st.lists(st.tuples(st.integers(0, len(SAMPLE) - 1), st.integers(0, 255)), min_size=1, max_size=6))
def test_a_damaged_pickle_gives_a_value_or_a_value_error(changes):
    data = bytearray(SAMPLE)
    for place, byte in changes:
        data[place] = byte
    with suppress(ValueError):
        read(bytes(data))


@settings(max_examples=200)
@given(st.binary(max_size=200))
def test_noise_gives_a_value_or_a_value_error(data):
    with suppress(ValueError):
        read(data)
