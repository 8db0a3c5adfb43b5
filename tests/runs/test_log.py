"""The log of records: whole lines, a damaged end cut off, a full disk, syncing."""

import os
import resource
from pathlib import Path

import pytest

from viewvote.errors import RunError, RunWriteError
from viewvote.records.record import Record
from viewvote.runs.log import RecordLog, read_lines, recover

KEYS = [f"class/{i}.png" for i in range(4)]
RECORDS = [Record(key=key, target=i, index=0, correct=i == 0, timings={"total": 0.5}) for i, key in enumerate(KEYS)]
LINES = [record.to_line() for record in RECORDS]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "records.jsonl"


def write(path, *lines):
    with RecordLog(path) as log:
        log.append(lines)


def test_lines_come_back_as_they_were_written(path):
    write(path, *LINES[:2])
    write(path, LINES[2])
    assert list(read_lines(path)) == LINES[:3]
    assert path.read_bytes() == ("\n".join(LINES[:3]) + "\n").encode()


def test_an_empty_or_missing_log_holds_nothing(path):
    assert recover(path, KEYS).count == 0
    assert not path.exists()
    path.touch()
    assert recover(path, KEYS).count == 0


def test_cut_off_anywhere_the_log_goes_back_to_its_last_whole_line(path):
    first, second = (len(line.encode()) + 1 for line in LINES[:2])
    whole = "".join(line + "\n" for line in LINES[:2]).encode()
    for size in {*range(0, len(whole), 23), first - 1, first, first + 1, len(whole) - 1, len(whole)}:
        path.write_bytes(whole[:size])
        found = recover(path, KEYS)
        assert found.count == (size >= first) + (size >= first + second)
        assert path.stat().st_size == [0, first, first + second][found.count]
        assert found.cut == size - path.stat().st_size


@pytest.mark.parametrize("damage", [b"\xff\xfe\n", b"\n", b"12\n", b'{"key": "class/1.p\n\xe9\n', b'{"key": 1'])
def test_an_end_without_another_record_is_what_a_crash_leaves_and_is_cut_off(path, damage):
    path.write_bytes(f"{LINES[0]}\n".encode() + damage)
    assert recover(path, KEYS).count == 1
    assert list(read_lines(path)) == LINES[:1]


@pytest.mark.parametrize("follows", [b"", f"{LINES[2]}\n{LINES[3]}\n".encode(), b"\n" + f"{LINES[2]}\n".encode()])
@pytest.mark.parametrize("begun", [b"", LINES[1][:20].encode()])
def test_a_hole_of_lost_sectors_is_cut_off_with_all_that_follows(path, begun, follows):
    before = f"{LINES[0]}\n".encode() + begun
    path.write_bytes(before.ljust(1024, b"\0") + follows)
    assert recover(path, KEYS).count == 1
    assert list(read_lines(path)) == LINES[:1]


@pytest.mark.parametrize("byte", [b"\0", b"\n", b"{", b"\xff"])
def test_a_damaged_byte_before_whole_records_is_an_error_and_nothing_is_cut(path, byte):
    damaged = bytearray("".join(f"{line}\n" for line in LINES).encode())
    at = len(LINES[0]) + 30
    damaged[at : at + 1] = byte
    path.write_bytes(damaged)
    with pytest.raises(RunError, match=r"line 2 of .*records.jsonl is damaged, and line [34] is a record.*was changed"):
        recover(path, KEYS)
    assert path.read_bytes() == damaged


@pytest.mark.parametrize("line", [LINES[0].replace('"key"', '"mood":"good","key"'), "{}", '{"key": 1}'])
def test_what_another_version_wrote_is_an_error_and_nothing_is_cut(path, line):
    path.write_text(f"{line}\n" * 3)
    with pytest.raises(RunError, match=r"line 1 of .*records.jsonl is no record of this version: .*exactly the keys"):
        recover(path, KEYS)
    assert path.read_text() == f"{line}\n" * 3


def test_right_and_failed_records_are_counted(path):
    failed = Record(key=KEYS[1], target=1, error="unreadable").to_line()
    write(path, LINES[0], failed, LINES[2])
    found = recover(path, KEYS)
    assert (found.count, found.correct, found.errors) == (3, 1, [1])


@pytest.mark.parametrize("keys", [["other", *KEYS[1:]], KEYS[:2], []])
def test_records_of_other_samples_are_an_error_and_stay(path, keys):
    write(path, *LINES[:3])
    before = path.read_bytes()
    with pytest.raises(RunError, match="changed by hand, or belongs to another run"):
        recover(path, keys)
    assert path.read_bytes() == before


def test_a_full_disk_leaves_whole_lines_and_says_what_to_do(path):
    write(path, LINES[0])
    size = path.stat().st_size
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    log = RecordLog(path)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 10, hard))  # ten bytes of the next line fit
        with pytest.raises(RunWriteError, match=r"cannot write .*records.jsonl: File too large.*recorded is safe"):
            log.append(LINES[1:3])
        assert path.stat().st_size == size
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    log.append(LINES[1:2])
    log.close()
    assert list(read_lines(path)) == LINES[:2]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_no_space_left_is_named(tmp_path):
    (tmp_path / "records.jsonl").symlink_to("/dev/full")
    with (
        pytest.raises(RunWriteError, match=r"No space left on device.*Free some space"),
        RecordLog(tmp_path / "records.jsonl") as log,
    ):
        log.append(LINES)


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path):
    with pytest.raises(RunWriteError, match="cannot write"):
        RecordLog(tmp_path / "none" / "records.jsonl")


def test_the_file_is_synced_every_few_seconds_and_at_the_end(path, monkeypatch):
    synced, now = [], [0.0]
    log = RecordLog(path, sync_seconds=5, clock=lambda: now[0])
    real = os.fsync
    monkeypatch.setattr(os, "fsync", lambda descriptor: (synced.append(now[0]), real(descriptor)))
    for now[0] in (1.0, 4.0, 5.0, 6.0, 11.0):
        log.append(LINES[:1])
    log.close()
    assert synced == [5.0, 11.0, 11.0]
    log.close()  # twice is harmless
    assert synced == [5.0, 11.0, 11.0]
