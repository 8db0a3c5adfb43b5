"""Files that people name: whatever they are, they are read or an error in words, and nothing waits or fills memory."""

import os
import sys
from pathlib import Path

import pytest

from viewvote.errors import RecordError, UsageError
from viewvote.reading import TOML_DEPTH, open_regular, parse_toml, read_bytes, read_json, read_text, read_toml

needs_posix = pytest.mark.skipif(os.name == "nt", reason="no such files there")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, r"cannot read the list .*a\.json: No such file"),
        (b"{", r"a\.json is not valid JSON: Expecting"),
        (b'{"a": "\xff"}', r"the list .*a\.json is not UTF-8 text"),
        (b"[1]", r"a\.json must hold a JSON object, found list"),
        (b'{"a": ' + b"[" * 100_000, r"a\.json is nested too deeply"),
        (b'{"a": ' + b"9" * 5000 + b"}", r"a\.json is not valid JSON: Exceeds"),
    ],
    ids=["missing", "cut", "bytes", "list", "deep", "digits"],
)
def test_json_that_cannot_be_used_is_the_error_that_the_caller_chose(tmp_path, content, message):
    if content is not None:
        (tmp_path / "a.json").write_bytes(content)
    with pytest.raises(RecordError, match=message):
        read_json(tmp_path / "a.json", error=RecordError, what="the list")


def test_a_json_object_is_read_with_or_without_a_mark_of_the_byte_order(tmp_path):
    for mark in (b"", b"\xef\xbb\xbf"):
        (tmp_path / "a.json").write_bytes(mark + b'{"n": 3}')
        assert read_json(tmp_path / "a.json", error=RecordError) == {"n": 3}


def test_line_breaks_stay_as_they_are(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"a\r\nb\rc\n")
    assert read_text(tmp_path / "a.txt", error=UsageError) == "a\r\nb\rc\n"


@needs_posix
@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "missing", "nul", "surrogate", "long"])
def test_only_regular_files_are_opened_and_nothing_waits(tmp_path, kind):
    names = {"device": "/dev/zero", "nul": "a\0b", "surrogate": "a\ud800b", "long": "a" * 300}
    path = names.get(kind, str(tmp_path / kind))
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        Path(path).mkdir()
    words = {"folder": "it is a folder", "missing": "No such file", "long": "name too long"}
    words |= dict.fromkeys(("nul", "surrogate"), "no file can have this name")
    with pytest.raises(OSError, match=f"(?i){words.get(kind, 'it is not a regular file')}"):
        open_regular(path)
    with pytest.raises(UsageError, match=f"(?i){words.get(kind, 'it is not a regular file')}"):
        read_text(path, error=UsageError)


def test_a_file_over_the_limit_is_refused_with_it_and_one_at_the_limit_is_read(tmp_path):
    (tmp_path / "a").write_bytes(b"x" * 1000)
    assert read_bytes(tmp_path / "a", error=UsageError, limit=1000) == b"x" * 1000
    with pytest.raises(UsageError, match="a has more than 999 bytes"):
        read_bytes(tmp_path / "a", error=UsageError, limit=999)


@pytest.mark.parametrize("text", ["a = ", "a = " + "[" * 100_000, "a = " + "[" * 50 + "]" * 50, "a = 1\x00"])
def test_toml_that_cannot_be_used_is_an_error_that_names_the_file(tmp_path, text):
    (tmp_path / "a.toml").write_text(text)
    with pytest.raises(UsageError, match=r"a\.toml is (not TOML|nested)"):
        read_toml(tmp_path / "a.toml", error=UsageError)


def test_toml_may_be_as_deep_as_anything_here_is():
    deep = "a = " + "[" * (TOML_DEPTH - 1) + "]" * (TOML_DEPTH - 1)
    value = parse_toml(deep, source="x", error=UsageError)["a"]
    for _ in range(TOML_DEPTH - 2):
        (value,) = value
    assert value == []
    assert sys.getrecursionlimit() > 10 * TOML_DEPTH
